import { mkdtemp, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { systemClock } from "../../src/base/support/index.ts";
import { fileStore, type FileStoreOptions, memoryStore } from "../../src/runtime/log/index.ts";
import { describeChangesContract } from "./changes-contract.ts";
import { describeLogContract, notice, type StoreUnderTest } from "./log-contract.ts";

const onFiles =
  (options: FileStoreOptions = {}) =>
  async (): Promise<StoreUnderTest> => {
    const folder = await mkdtemp(join(tmpdir(), "throughline-contract-"));
    return {
      store: fileStore(folder),
      again: () => fileStore(folder, options),
      touch: async (id, at) => utimes(join(folder, `${id}.jsonl`), at / 1000, at / 1000),
      dispose: () => rm(folder, { recursive: true, force: true }),
    };
  };

const withoutHints = (): never => {
  throw Object.assign(new Error("made by the test"), { code: "ENOSPC" });
};

function inMemory(): StoreUnderTest {
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
}

describeLogContract("memoryStore", inMemory);
describeLogContract("fileStore", onFiles());

describeChangesContract("memoryStore", inMemory);
describeChangesContract("fileStore", onFiles());
describeChangesContract("fileStore without hints of the system", onFiles({ watch: withoutHints }));
