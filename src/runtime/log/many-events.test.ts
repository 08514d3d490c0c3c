/** A long session opens like any other: no step passes all events as function arguments, whose number is limited. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, test } from "vitest";

import { fileStore } from "./file-store.ts";
import type { AppendDraft, Store } from "./log.ts";
import { memoryStore } from "./memory-store.ts";

const COUNT = 150_000;

test.each(["file", "memory"])("%s: 150,000 events are appended at once and read again", async (kind) => {
  const folder = mkdtempSync(join(tmpdir(), "throughline-many-"));
  try {
    const store: Store = kind === "file" ? fileStore(folder) : memoryStore();
    const log = await store.open("long", { mode: "write" });
    const notice: AppendDraft = { type: "notice", code: "x", message: "y" };
    await log.append(Array.from({ length: COUNT }, () => notice));
    await log.close();
    const again = await store.open("long", { mode: "read" });
    expect(again.events.length).toBe(COUNT);
    expect(again.events.at(-1)?.seq).toBe(COUNT - 1);
    await again.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
