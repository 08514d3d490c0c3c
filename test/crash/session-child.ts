/**
 * A session in its own process, to be killed. It reports each acknowledgement on one line before it continues: `event
 * {json}`, `tool CITY`, `effect CITY`, `result {json}`. Lines are written synchronously, so what it reported was done.
 */

import { writeSync } from "node:fs";

import { createAgent, fileStore } from "../../src/index.ts";
import { type FileIo, systemFileIo } from "../../src/runtime/log/index.ts";
import { crashFallback, crashModel, type CrashPlan, weatherTool } from "./crash-plan.ts";

const plan = JSON.parse(process.argv[2] ?? "{}") as CrashPlan;
const say = (word: string, value: unknown): void => {
  writeSync(1, `${word} ${typeof value === "string" ? value : JSON.stringify(value)}\n`);
};

/** Dies by SIGKILL at the nth system call of the log, before or after the call does its work. */
function mortalIo(): FileIo {
  const { dieAt } = plan;
  if (dieAt === undefined) return systemFileIo;
  const counts = { write: 0, sync: 0 };
  const count = (call: "write" | "sync", when: "before" | "after"): void => {
    if (when === "before") counts[call] += 1;
    if (dieAt.call !== call || dieAt.when !== when) return;
    if (dieAt.nth === counts[call]) process.kill(process.pid, "SIGKILL");
  };
  return {
    ...systemFileIo,
    write(file, bytes, offset, position) {
      const text = Buffer.from(bytes).toString();
      if (dieAt.type !== undefined && text.includes(`"type":"${dieAt.type}"`))
        process.kill(process.pid, "SIGKILL");
      count("write", "before");
      // Torn: only some of the bytes had reached the file when the process died.
      if (dieAt.when === "torn" && dieAt.call === "write" && dieAt.nth === counts.write) {
        systemFileIo.write(
          file,
          bytes.subarray(0, offset + Math.ceil((bytes.length - offset) / 2)),
          offset,
          position,
        );
        process.kill(process.pid, "SIGKILL");
      }
      const written = systemFileIo.write(file, bytes, offset, position);
      count("write", "after");
      return written;
    },
    async sync(file) {
      count("sync", "before");
      await systemFileIo.sync(file);
      count("sync", "after");
    },
  };
}

const agent = createAgent({
  model: crashModel(plan),
  fallback: crashFallback(plan),
  repairArguments: () => plan.repaired,
  tools: [weatherTool(plan, say)],
  permissions: plan.permissions,
});
const session = await agent.open({ id: plan.id, store: fileStore(plan.folder, { io: mortalIo() }) });
for (const prompt of plan.prompts) {
  const turn = session.send(prompt, { output: plan.output });
  for await (const event of turn) say("event", event);
  say("result", await turn.result());
}
await session.close();
say("end", "all turns");
