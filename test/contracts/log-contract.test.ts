import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { fileStore, memoryStore } from "../../src/runtime/log/index.ts";
import { describeLogContract } from "./log-contract.ts";

describeLogContract("memoryStore", () => ({ store: memoryStore() }));

describeLogContract("fileStore", async () => {
  const folder = await mkdtemp(join(tmpdir(), "throughline-contract-"));
  return {
    store: fileStore(folder),
    again: () => fileStore(folder),
    dispose: () => rm(folder, { recursive: true, force: true }),
  };
});
