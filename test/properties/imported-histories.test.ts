/**
 * Whatever was done to a history before it was imported (lines lost, repeated or moved, ids emptied, repeated or too long):
 * the session is well formed, and its next request breaks no rule on any dialect, whoever made the answers.
 */

import fc from "fast-check";
import { expect, test } from "vitest";

import { openHistory } from "../../src/diagnostics/check/formats/index.ts";
import { importHistory } from "../../src/diagnostics/import/index.ts";
import {
  anthropic,
  isThroughlineError,
  type LoggedEvent,
  memoryStore,
  type Model,
  openai,
  openaiChat,
} from "../../src/index.ts";
import { previewFromLog } from "../../src/inspect.ts";
import { SAMPLES, told } from "../check/foreign-samples.ts";
import { runs } from "../support/runs.ts";

const AT = { baseUrl: "http://127.0.0.1:9/v1", apiKey: "sk-test" };
const MODELS: readonly Model[] = [
  openai("emu-reasoner", AT),
  anthropic("emu-claude", AT),
  openaiChat("emu-chat", AT),
  openaiChat("mistral-large", { ...AT, profile: "mistral" }),
  openaiChat("deepseek-v4", { ...AT, profile: "deepseek" }),
];

/** One text per sample, and the request that each becomes, as a raw history. */
async function histories(): Promise<readonly string[]> {
  const stories = { responses: await told("responses"), messages: await told("messages") };
  const texts = Object.values(SAMPLES).map(({ write, dialect }) => write(stories[dialect].told));
  const raw = texts.map(
    (text) =>
      `[${openHistory(text)
        .pieces.map((piece) => piece.text)
        .join(",")}]`,
  );
  return [...texts, ...raw];
}

type Damage = (parts: string[], at: number, other: number) => void;

const DAMAGES: Readonly<Record<string, Damage>> = {
  lose: (parts, at) => void parts.splice(at, 1),
  repeat: (parts, at, other) => void parts.splice(other, 0, parts[at] ?? "{}"),
  move: (parts, at, other) => void parts.splice(other, 0, ...parts.splice(at, 1)),
  "lose an id": (parts, at) => (parts[at] = (parts[at] ?? "").replace(/"((?:call_|toolu_)[^"|]*)/, '"')),
  "lengthen an id": (parts, at) =>
    (parts[at] = (parts[at] ?? "").replace(/"((?:call_|toolu_|rs_|msg_)[^"|]*)/, `"$1${"x".repeat(80)}`)),
  "change the payload": (parts, at) =>
    (parts[at] = (parts[at] ?? "").replace(
      /(encrypted_?[cC]ontent|signature|EncryptedContent)(\\*": ?\\*")[^"\\]+/,
      "$1$2",
    )),
  "empty the text": (parts, at) =>
    (parts[at] = (parts[at] ?? "").replace(/sunny|It is sunny\.|Weather\?/, "")),
};

const damage = fc.tuple(fc.constantFrom(...Object.keys(DAMAGES)), fc.nat(12), fc.nat(12));

function damaged(text: string, all: readonly (readonly [string, number, number])[]): string {
  const isArray = text.trimStart().startsWith("[");
  const parts = isArray
    ? (JSON.parse(text) as unknown[]).map((value) => JSON.stringify(value))
    : text.trimEnd().split("\n");
  for (const [name, at, other] of all)
    if (parts.length > 0) DAMAGES[name]?.(parts, at % parts.length, other % (parts.length + 1));
  return isArray ? `[${parts.join(",")}]` : `${parts.join("\n")}\n`;
}

const key = (event: LoggedEvent): string => ("callId" in event ? `${event.response} ${event.callId}` : "");

/** Every response, call and turn is closed exactly once. */
function expectWhole(events: readonly LoggedEvent[]): void {
  const of = (type: string): readonly LoggedEvent[] => events.filter((event) => event.type === type);
  expect(of("response_end").map(({ response }) => response)).toEqual(
    of("response_start").map(({ response }) => response),
  );
  expect(of("tool_result").map(key).toSorted()).toEqual(of("tool_call").map(key).toSorted());
  expect(new Set(of("tool_call").map(key)).size).toBe(of("tool_call").length);
  const turns = new Set(events.flatMap(({ turn }) => turn ?? []));
  expect(of("turn_end").map(({ turn }) => turn)).toEqual([...turns]);
}

test("a damaged history that is imported continues everywhere", async () => {
  const all = await histories();
  let made = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...all),
      fc.array(damage, { maxLength: 4 }),
      fc.constantFrom(undefined, ...MODELS),
      async (text, damages, from) => {
        const store = memoryStore();
        let id: string;
        try {
          ({ id } = await importHistory(store, damaged(text, damages), { from }));
        } catch (error) {
          // Nothing was left of it, or nothing by which it can be recognised, or a line is no longer JSON.
          expect(["history_damaged", "input_invalid"]).toContain(isThroughlineError(error) && error.code);
          return;
        }
        made += 1;
        const log = await store.open(id, { mode: "write" });
        expectWhole(log.events);
        const content = [{ type: "text", text: "Go on." }] as const;
        await log.append([{ type: "user_message", turn: "tn_next", by: "person", content }]);
        for (const model of MODELS) expect((await previewFromLog(log, model)).violations).toEqual([]);
        await log.close();
      },
    ),
    runs(150),
  );
  expect(made).toBeGreaterThan(10);
});
