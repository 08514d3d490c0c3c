/**
 * Files of other tools: recognised by content, linted, repaired. Each format has a good sample and broken ones; the
 * repaired file is sent to the strict emulator as the tool would send it.
 */

import { describe, expect, test } from "vitest";

import { sendableToolName } from "../../src/base/support/index.ts";
import { openHistory } from "../../src/diagnostics/check/formats/index.ts";
import { checkHistory, type FormatName, repairHistory } from "../../src/diagnostics/check/index.ts";
import type { Emulator } from "../../src/emulator/index.ts";
import { chat } from "../emulator/chat-client.ts";
import { base, type Json, post, user } from "../emulator/emulator-client.ts";
import { codexRollout, aiSdkUi, piResponses } from "./foreign-formats.ts";
import { CLAUDE, HEADERS, SAMPLES, told, without, withoutPart } from "./foreign-samples.ts";

/** Sent as the tool would send it, with the user's next message. */
async function refusalOf(emulator: Emulator, text: string, format: FormatName): Promise<string | undefined> {
  const { pieces, dialect } = openHistory(text, format);
  const sent = [...pieces.map((piece) => JSON.parse(piece.text) as Json), user("And tomorrow?")];
  const reply =
    dialect === "openai-responses"
      ? await post(emulator, { ...base, input: sent })
      : dialect === "openai-chat"
        ? await chat(emulator, { model: "emu-chat", messages: sent })
        : await post(emulator, { ...CLAUDE, messages: sent }, HEADERS, "/messages");
  return reply.status === 200 ? undefined : reply.text;
}

describe.each(Object.entries(SAMPLES))("%s", (_, { format, dialect, write, version, broken }) => {
  test("is recognised by its content; a good one is left byte for byte, and is accepted", async () => {
    const { emulator, told: story } = await told(dialect);
    const text = write(story);
    expect(checkHistory(text)).toMatchObject({
      format,
      findings: [],
      ...(version === undefined ? {} : { version }),
    });
    expect(repairHistory(text)).toMatchObject({ format, text, changes: [], remaining: [] });
    expect(await refusalOf(emulator, text, format)).toBeUndefined();
  });

  test.each(Object.entries(broken))("%s is found, repaired and accepted", async (__, [rule, make]) => {
    const { emulator, told: story } = await told(dialect);
    const text = make(write(story));
    const found = checkHistory(text);
    expect([found.format, found.findings.map((finding) => finding.rule)]).toEqual([
      format,
      expect.arrayContaining([rule]),
    ]);
    const repaired = repairHistory(text);
    expect([repaired.remaining, repaired.changes.length > 0]).toEqual([[], true]);
    expect(repairHistory(repaired.text)).toMatchObject({ format, text: repaired.text, changes: [] });
    expect(await refusalOf(emulator, repaired.text, format)).toBeUndefined();
  });
});

const valuesIn = (text: string): unknown =>
  text.startsWith("[") ? JSON.parse(text) : lines(text).map((line) => JSON.parse(line) as unknown);
const lines = (text: string): readonly string[] => text.trim().split("\n");

describe.each(Object.entries(SAMPLES))("%s", (_, { dialect, write, format }) => {
  test("maps a name no API accepts (T15) everywhere, the same in the call and its result", async () => {
    const { emulator, told: story } = await told(dialect);
    const good = write(story);
    const text = good.replaceAll(/\bweather(?=\\*")/g, "functions.weather");
    expect(text).not.toBe(good);
    const rules = checkHistory(text).findings.map(({ rule }) => rule);
    expect([...new Set(rules)]).toEqual([expect.stringMatching(/^(?:R18|M25|Q12)$/)]);
    expect(await refusalOf(emulator, text, format)).toMatch(/pattern/);
    const repaired = repairHistory(text);
    expect(repaired.remaining).toEqual([]);
    const sent = sendableToolName("functions.weather", () => false);
    expect(valuesIn(repaired.text)).toEqual(valuesIn(text.replaceAll("functions.weather", sent)));
    expect(await refusalOf(emulator, repaired.text, format)).toBeUndefined();
  });
});

const places = (text: string): readonly string[] =>
  checkHistory(text).findings.map(({ location }) => location);

test("a location says where in the file: the line, the part", async () => {
  const { told: story } = await told("responses");
  expect(places(without(/function_call_output/)(codexRollout(story)))).toEqual(["line 6"]);
  expect(places(withoutPart(aiSdkUi(story), "text", 1))).toEqual(["[1].parts[4]"]);
});

test("a format can be forced, and a wrong one is an error", () => {
  const text = '[{"role":"user","content":"Hi."}]';
  expect(checkHistory(text, { format: "messages" })).toMatchObject({ format: "messages", findings: [] });
  expect(() => checkHistory('{"a":1}', { format: "messages" })).toThrow(
    expect.objectContaining({ code: "input_invalid" }),
  );
});

test("two records on one line are separated, and none is lost", async () => {
  const { told: story } = await told("responses");
  const text = codexRollout(story);
  expect(repairHistory(text.replace('}\n{"timestamp"', '}{"timestamp"')).text).toBe(text);
});

test("a pi call that loses its item id is still found by its result", async () => {
  const { told: story } = await told("responses");
  const broken = piResponses(story).replace(
    /\\"encrypted_content\\":\\"[^"\\]+\\"/,
    String.raw`\"encrypted_content\":null`,
  );
  const { text } = repairHistory(broken);
  const [, callId = ""] = /"type":"toolCall","id":"([^"]+)"/.exec(text) ?? [];
  expect([callId, /"toolCallId":"([^"]+)"/.exec(text)?.[1]]).toEqual([story.callId, callId]);
});
