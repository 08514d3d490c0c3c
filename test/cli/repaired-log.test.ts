/** Reports about a session whose log was repaired: what is lost, and what can no longer be proven. */

import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { emulatorOf, newPlace, onlyLog, run } from "./harness.ts";

test("check and inspect report what a repaired log lost, not that its bytes differ", async () => {
  const place = newPlace();
  place.damaged = true;
  const { env } = await emulatorOf();
  await run(place, ["-p", "hello"], { env });
  await run(place, ["-p", "-c", "and again"], { env });
  const { id, events, file } = await onlyLog(place);
  expect(await run(place, ["check", id])).toMatchObject({
    code: 0,
    out: expect.stringMatching(/: \d+ events, 2 requests and the next one: no problems\n$/) as string,
  });
  const answer = events.findIndex(({ type }) => type === "assistant_message");
  const lines = readFileSync(file, "utf8").split("\n");
  lines[answer] = (lines[answer] ?? "").replace("hello", "hallo");
  writeFileSync(file, lines.join("\n"));
  const repaired = `${id}-repaired`;
  const mended = await run(place, ["repair", id]);
  expect(mended).toMatchObject({ code: 0, out: expect.stringContaining("changes, written to") as string });
  const again = await run(place, ["repair", id]);
  expect([again.code, again.err]).toEqual([
    2,
    expect.stringMatching(/-repaired\.jsonl already exists: choose another name .*\[file_exists\]\n$/s),
  ]);
  const elsewhere = join(place.work, "copy.jsonl");
  copyFileSync(file, elsewhere);
  expect((await run(place, ["check", elsewhere])).err).toContain(
    `throughline repair ${elsewhere} [log_damaged]`,
  );
  const checked = await run(place, ["check", repaired]);
  expect(checked).toMatchObject({ code: 0, err: "" });
  expect(checked.out).toContain(
    `note: this log was repaired: event ${answer} is lost; request 2 after it cannot be rebuilt as sent\n`,
  );
  expect(checked.out).not.toContain("byte for byte");
  const json = JSON.parse((await run(place, ["check", "--json", repaired])).out) as object;
  expect(json).toMatchObject({ findings: [], notes: [expect.stringContaining(`event ${answer} is lost`)] });
  const inspected = await run(place, ["inspect", repaired, "--request", "2"]);
  expect(inspected.out).toContain(
    `not verifiable: the log was repaired, and event ${answer} before it is lost`,
  );
  expect((await run(place, ["inspect", repaired, "--request", "1"])).out).toContain(
    "verified: these are the bytes",
  );
});
