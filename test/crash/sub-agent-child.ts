/** A session with a sub-agent in its own process, to be killed. Reports `thinking`, `effect CITY`, `blocked-after CITY`. */

import { writeSync } from "node:fs";

import { fileStore } from "../../src/index.ts";
import { systemFileIo } from "../../src/runtime/log/index.ts";
import { agentsOf, type SubAgentPlan } from "./sub-agent-plan.ts";

const plan = JSON.parse(process.argv[2] ?? "{}") as SubAgentPlan;
const say = (word: string, value: unknown): void => void writeSync(1, `${word} ${String(value)}\n`);
let seen = 0;
const io: typeof systemFileIo = {
  ...systemFileIo,
  write(file, bytes, offset, position) {
    const { dieAt } = plan;
    if (dieAt !== undefined && Buffer.from(bytes).includes(dieAt.text)) {
      seen += 1;
      if (seen === dieAt.nth) process.kill(process.pid, "SIGKILL");
    }
    return systemFileIo.write(file, bytes, offset, position);
  },
};

const session = await agentsOf(plan, say).parent.open({
  id: "parent",
  store: fileStore(plan.folder, { io }),
});
await session.send("Find out about the weather.").result();
await session.close();
say("end", "all turns");
