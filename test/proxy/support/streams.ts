/** Streams as providers send them: our emulator's own, and the recorded ones if THROUGHLINE_FIXTURES names them. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { startEmulator } from "../../../src/emulator/index.ts";
import { TALKERS } from "./talk.ts";

export interface Recorded {
  readonly name: string;
  readonly path: string;
  readonly bytes: Buffer;
}

const weather = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const TOOLS: Readonly<Record<string, object>> = {
  responses: { type: "function", name: "get_weather", parameters: weather },
  messages: { name: "get_weather", input_schema: weather },
  chat: { type: "function", function: { name: "get_weather", parameters: weather } },
};

/** An answer with text and one with a call for each dialect. */
export async function ownStreams(stream = true): Promise<readonly Recorded[]> {
  const emulator = await startEmulator({ seed: "streams" });
  const streams: Recorded[] = [];
  try {
    for (const talker of TALKERS)
      for (const [what, user, more] of [
        ["text", "Grüße 🧠", {}],
        ["call", "What is the weather in Paris?", { tools: [TOOLS[talker.name]] }],
      ] as const) {
        const body = { ...(JSON.parse(talker.body([{ user }], stream)) as object), ...more };
        const answer = await fetch(`${emulator.url}${talker.path}`, {
          method: "POST",
          headers: { ...Object.fromEntries(talker.headers("sk-own")), "content-type": "application/json" },
          body: JSON.stringify(body),
        });
        if (answer.status !== 200) throw new Error(await answer.text());
        const bytes = Buffer.from(await answer.arrayBuffer());
        streams.push({ name: `${talker.name}, a ${what}`, path: talker.path, bytes });
      }
  } finally {
    await emulator.close();
  }
  return streams;
}

const root = process.env["THROUGHLINE_FIXTURES"] ?? "";
const PATHS: Readonly<Record<string, string>> = {
  "openai-responses": "/v1/responses",
  anthropic: "/v1/messages",
  "openai-chat": "/v1/chat/completions",
  "google/generate": "/v1beta/models/gemini-3:streamGenerateContent?alt=sse",
  "google/interactions": "/v1beta/interactions",
};

/** The recorder removed the framing. */
export function recordedStreams(): readonly Recorded[] {
  return Object.entries(PATHS).flatMap(([folder, path]) => {
    const at = join(root, folder);
    if (root === "" || !existsSync(at)) return [];
    return readdirSync(at)
      .filter((name) => name.endsWith(".chunks.txt"))
      .map((name) => {
        const lines = readFileSync(join(at, name), "utf8")
          .split("\n")
          .filter((line) => line !== "");
        return { name: `${folder}/${name}`, path, bytes: Buffer.from(lines.map(framed).join("")) };
      });
  });
}

function framed(line: string): string {
  const type = /"type":"((?:response\.|error|message|content_block|ping)[^"]*)"/.exec(line)?.[1];
  return `${type === undefined ? "" : `event: ${type}\n`}data: ${line}\n\n`;
}
