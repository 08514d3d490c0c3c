import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { fileStore, type FileStoreOptions, memoryStore } from "../../src/runtime/log/index.ts";
import { describeChangesContract } from "./changes-contract.ts";
import { describeLogContract, type StoreUnderTest } from "./log-contract.ts";

const onFiles =
  (options: FileStoreOptions = {}) =>
  async (): Promise<StoreUnderTest> => {
    const folder = await mkdtemp(join(tmpdir(), "throughline-contract-"));
    return {
      store: fileStore(folder),
      again: () => fileStore(folder, options),
      dispose: () => rm(folder, { recursive: true, force: true }),
    };
  };

const withoutHints = (): never => {
  throw Object.assign(new Error("made by the test"), { code: "ENOSPC" });
};

describeLogContract("memoryStore", () => ({ store: memoryStore() }));
describeLogContract("fileStore", onFiles());

describeChangesContract("memoryStore", () => ({ store: memoryStore() }));
describeChangesContract("fileStore", onFiles());
describeChangesContract("fileStore without hints of the system", onFiles({ watch: withoutHints }));
