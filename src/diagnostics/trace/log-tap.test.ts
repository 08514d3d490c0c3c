import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, test } from "vitest";

import { afterTest } from "../../../test/support/clean-up.ts";
import { fileStore } from "../../runtime/log/index.ts";
import { tapStore } from "./log-tap.ts";

test("a tapped log refuses new turns when the log itself does", async () => {
  const folder = mkdtempSync(join(tmpdir(), "throughline-tap-"));
  afterTest(() => rmSync(folder, { recursive: true, force: true }));
  const sink = { opened: () => undefined, appended: () => undefined, blob: () => undefined };
  const store = tapStore(fileStore(folder, { largestLogBytes: 4000 }), sink);
  const log = await store.open("s1", { mode: "write" });
  afterTest(() => log.close());
  expect(log.refusal?.()).toBeUndefined();
  await log.append([{ type: "notice", code: "x", message: "y".repeat(3500) }]);
  expect(log.refusal?.()?.code).toBe("log_too_large");
});
