/** Texts of megabytes in both directions: the emulator answers or refuses as the provider does, in every dialect. */

import { expect, test } from "vitest";

import { loadScenario, startEmulator } from "../../src/emulator/index.ts";
import { afterTest } from "../contracts/file-fixture.ts";

const MB = 1024 * 1024;

const KINDS: readonly (readonly [string, (bytes: number) => string])[] = [
  ["one word", (bytes) => "a".repeat(bytes)],
  ["words", (bytes) => "hello world ".repeat(bytes / 12)],
  ["spaces", (bytes) => " ".repeat(bytes)],
  ["emoji with joiners", (bytes) => "👩‍👩‍👧‍👦".repeat(bytes / 25)],
  ["deep Markdown", (bytes) => "> - ".repeat(bytes / 4)],
  ["names", (bytes) => `in ${"Paris ".repeat(bytes / 6)}`],
  ["quotes and slashes", (bytes) => '\\"'.repeat(bytes / 4)],
];

const DIALECTS: readonly (readonly [string, (text: string, stream: boolean) => readonly [string, object]])[] =
  [
    ["responses", (input, stream) => ["responses", { model: "emu-reasoner", input, store: false, stream }]],
    [
      "messages",
      (content, stream) => [
        "messages",
        { model: "emu-claude", max_tokens: 1_000_000, messages: [{ role: "user", content }], stream },
      ],
    ],
    [
      "chat",
      (content, stream) => [
        "chat/completions",
        { model: "emu-chat", messages: [{ role: "user", content }], stream },
      ],
    ],
  ];

async function ask(baseUrl: string, path: string, body: object): Promise<readonly [number, string]> {
  const headers = {
    "content-type": "application/json",
    authorization: "Bearer sk-test",
    "x-api-key": "sk-test",
    "anthropic-version": "2023-06-01",
  };
  const answer = await fetch(`${baseUrl}/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  return [answer.status, await answer.text()];
}

const EVERY = DIALECTS.flatMap(([dialect, make]) =>
  KINDS.map(([kind, text]) => ({ dialect, kind, make, text })),
);

test.each(EVERY)(
  "$dialect: a message of 1 and 8 MB of $kind is answered or too long",
  async ({ make, text }) => {
    const emulator = await startEmulator();
    afterTest(() => emulator.close());
    for (const size of [MB, 8 * MB]) {
      const [status, said] = await ask(emulator.baseUrl, ...make(text(size), true));
      if (status === 200) expect(said.length).toBeGreaterThan(0);
      else expect([status, said]).toEqual([400, expect.stringMatching(/context|too long|non-whitespace/)]);
    }
  },
);

// Whether an answer arrives does not depend on what it says, and some kinds take long.
test.each(EVERY.filter(({ kind }) => kind === "words" || kind === "emoji with joiners"))(
  "$dialect: an answer of 1 MB of $kind arrives, as far as the context reaches",
  async ({ make, text }) => {
    const message = text(MB);
    const scenario = loadScenario(JSON.stringify({ steps: [{ output: [{ message }] }] }), "large.json");
    const emulator = await startEmulator({ scenario });
    afterTest(() => emulator.close());
    const [status, said] = await ask(emulator.baseUrl, ...make("go", true));
    expect(status).toBe(200);
    const told = said.matchAll(/^data: (\{.*\})$/gm);
    const arrived = [...told].map(([, data = "{}"]) => textIn(JSON.parse(data) as Chunk)).join("");
    // The context of a model may end before the answer does.
    expect(arrived.length).toBeGreaterThan(Math.min(message.length, 700_000) - 1);
    expect(message.startsWith(arrived)).toBe(true);
  },
);

interface Chunk {
  readonly type?: string;
  readonly delta?: string | { readonly text?: string };
  readonly choices?: readonly { readonly delta?: { readonly content?: string | null } }[];
}

function textIn({ type, delta, choices }: Chunk): string {
  if (choices !== undefined) return choices[0]?.delta?.content ?? "";
  if (type === "response.output_text.delta") return typeof delta === "string" ? delta : "";
  return typeof delta === "object" ? (delta.text ?? "") : "";
}
