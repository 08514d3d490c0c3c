import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { fileStore } from "../../src/runtime/log/index.ts";
import { newPlace, type Place, run, treeOf } from "./harness.ts";
import { onTerminal } from "./pty.ts";

const CTRL_C = "\u0003";

/** About 96 MiB of pictures: far more than can be written between a frame and a key press. */
async function bigSession(place: Place): Promise<void> {
  const pictures = Array.from({ length: 48 }, (_, index) => Buffer.alloc(2 * 1024 * 1024, index + 1));
  const blobs = new Map(pictures.map((bytes) => [createHash("sha256").update(bytes).digest("hex"), bytes]));
  const content = [...blobs.keys()].map((blob) => ({ type: "image", mediaType: "image/png", blob }) as const);
  await fileStore(place.sessions).create("big", {
    events: [
      { type: "session_start", session: "big", root: "big", writer: "test" },
      { type: "user_message", turn: "tn_1", by: "person", content },
    ],
    blobs,
  });
}

test("exporting a big session shows progress on a terminal, and Ctrl-C in the middle leaves nothing behind", async () => {
  const place = newPlace();
  await bigSession(place);

  const exporting = onTerminal(place, ["sessions", "export", "big", "-o", "big.jsonl"]);
  await exporting.shows("MiB written");
  exporting.press(CTRL_C);
  expect((await exporting.ended).code).toBe(130);
  expect(exporting.screen).toContain("was not written");
  expect(readdirSync(place.work)).toEqual([]);

  expect(await run(place, ["sessions", "export", "big", "-o", "big.jsonl"])).toMatchObject({
    code: 0,
    err: "exported big: 2 events, 48 blobs\n", // no terminal, no progress
  });

  const importing = onTerminal(place, ["sessions", "import", "big.jsonl", "--id", "copy"]);
  await importing.shows("MiB read");
  importing.press(CTRL_C);
  expect((await importing.ended).code).toBe(130);
  expect(importing.screen).toContain("nothing was written");
  expect(readdirSync(place.sessions).filter((name) => !name.startsWith("big."))).toEqual([]);

  expect(await run(place, ["sessions", "import", "big.jsonl", "--id", "copy"])).toMatchObject({ code: 0 });
  expect(existsSync(join(place.sessions, "copy.jsonl"))).toBe(true);
  expect(treeOf(place.home).filter((path) => /\.tmp|\.new/.test(path))).toEqual([]);
});
