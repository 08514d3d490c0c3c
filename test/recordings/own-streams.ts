/** Streams that the emulator sends: one for each kind of item and ending, with thoughts as summaries and as text. */

import { type Emulator, loadScenario, startEmulator } from "../../src/emulator/index.ts";

const citation = {
  type: "url_citation",
  url: "https://example.test",
  title: "t",
  start_index: 0,
  end_index: 3,
};

/** One answer each; together they use every kind of item and ending. */
export const ANSWERS: Readonly<Record<string, object>> = {
  "a thought of two parts and a call": {
    output: [
      { reasoning: ["**One**\n\nfirst \u2028 part", "**Two**\n\nsecond 🧠"] },
      { function_call: { name: "f", arguments: { text: "naïve \u0000 \ud83d\ude00" } } },
    ],
  },
  "a search, a comment and an answer": {
    output: [
      { reasoning: [] },
      { web_search_call: "rivers" },
      { message: { text: "Looking.", phase: "commentary" } },
      { message: { text: "The Nile.", phase: "final_answer", annotations: [citation] } },
    ],
  },
  "a custom call": { output: [{ custom_tool_call: { name: "shell", input: "ls -l" } }] },
  "a refusal": { output: [{ refusal: "I will not." }] },
  "an incomplete answer": { output: [{ message: "half" }], status: "incomplete" },
  "a failure with its error event": { output: [{ message: "x" }], faults: ["error-event=nested"] },
  "a flat error": { output: [{ message: "x" }], faults: ["error-event=flat"] },
  "an item of an unknown type": {
    output: [{ message: "x" }],
    faults: ["unknown-item", "unknown-event", "keepalive=2"],
  },
};

export interface OwnStream {
  readonly name: string;
  /** The data of its events, one JSON text each. */
  readonly lines: readonly string[];
}

export async function ownStreams(): Promise<readonly OwnStream[]> {
  const streams: OwnStream[] = [];
  for (const reasoningText of [false, true]) {
    const steps = Object.values(ANSWERS);
    const emulator = await startEmulator({
      switches: { reasoningText },
      scenario: loadScenario(JSON.stringify({ steps }), "own.json"),
    });
    for (const name of Object.keys(ANSWERS)) {
      const lines = await linesOf(emulator);
      streams.push({ name: reasoningText ? `${name}, as reasoning text` : name, lines });
    }
    await emulator.close();
  }
  return streams;
}

async function linesOf(emulator: Emulator): Promise<readonly string[]> {
  const response = await fetch(`${emulator.baseUrl}/responses`, {
    method: "POST",
    headers: { authorization: "Bearer sk-own", "content-type": "application/json" },
    body: JSON.stringify({ model: "emu-reasoner", store: false, stream: true, input: "Go." }),
  });
  const text = await response.text();
  return text.split("\n").flatMap((line) => (line.startsWith("data: ") ? [line.slice(6)] : []));
}
