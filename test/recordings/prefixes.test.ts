/**
 * Every recorded stream of the Responses dialect, every stream of the emulator, and every prefix of it, cut after an event, plus one more message: the
 * request breaks no rule, carries every thought of the completed responses, and none of the cut one.
 */

import { describe, expect, test } from "vitest";

import { ownStreams } from "./own-streams.ts";
import { logOf, render, settingsOf } from "./re-encode.ts";
import {
  decode,
  type Decoded,
  framed,
  present,
  readRecording,
  recordingNames,
  responsesOf,
} from "./recordings.ts";

const ENDING = ".chunks.txt";
const names = recordingNames(ENDING);

if (!present) process.stderr.write("prefixes: skipped, THROUGHLINE_FIXTURES is not set\n");

/** The ciphertexts of finished thoughts. */
function payloads({ items }: Decoded): readonly string[] {
  return items.flatMap(({ type, item }) => {
    if (type !== "reasoning") return [];
    const { encrypted_content } = JSON.parse(item) as { readonly encrypted_content?: string | null };
    return encrypted_content ? [encrypted_content] : [];
  });
}

async function expectSound(responses: readonly Decoded[], profile: string): Promise<void> {
  const rendered = render(await logOf(responses, settingsOf(profile)));
  expect(rendered.violations).toEqual([]);
  const body = Buffer.concat(rendered.body).toString("utf8");
  for (const one of responses)
    for (const payload of payloads(one)) expect(body.includes(payload)).toBe(one.end?.status === "completed");
}

async function expectEveryPrefixSound(
  responses: readonly (readonly string[])[],
  profile: string,
): Promise<void> {
  for (const [index, lines] of responses.entries()) {
    const before = responses.slice(0, index).map((one) => decode(framed(one)));
    for (let count = 1; count <= lines.length; count += 1)
      await expectSound([...before, decode(framed(lines.slice(0, count)))], profile);
  }
}

describe.skipIf(!present)("every prefix of a recorded stream can continue", () => {
  test.each(names)("%s", async (name) => {
    const profile = name.startsWith("xai") ? "xai" : "openai";
    await expectEveryPrefixSound(responsesOf(readRecording(name)), profile);
  });
});

test("every prefix of the emulator's streams can continue", async () => {
  for (const { lines } of await ownStreams()) await expectEveryPrefixSound([lines], "openai");
});
