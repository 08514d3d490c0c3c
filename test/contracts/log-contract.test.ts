import { mkdtemp, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { systemClock } from "../../src/base/support/index.ts";
import { fileStore, memoryStore } from "../../src/runtime/log/index.ts";
import { describeLogContract, notice } from "./log-contract.ts";

describeLogContract("memoryStore", () => {
  let set: number | undefined;
  const store = memoryStore({ clock: { ...systemClock, now: () => set ?? systemClock.now() } });
  const touch = async (id: string, at: number): Promise<void> => {
    const log = await store.open(id, { mode: "write" });
    set = at;
    await log.append([notice("touched")]);
    set = undefined;
    await log.close();
  };
  return { store, touch };
});

describeLogContract("fileStore", async () => {
  const folder = await mkdtemp(join(tmpdir(), "throughline-contract-"));
  return {
    store: fileStore(folder),
    again: () => fileStore(folder),
    touch: async (id, at) => utimes(join(folder, `${id}.jsonl`), at / 1000, at / 1000),
    dispose: () => rm(folder, { recursive: true, force: true }),
  };
});
