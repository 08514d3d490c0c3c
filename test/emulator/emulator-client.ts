/** A client that adds nothing: it sends what you wrote and returns what arrived. */

import {
  type Emulator,
  type EmulatorOptions,
  loadScenario,
  startEmulator,
} from "../../src/emulator/index.ts";
import { afterTest } from "../support/clean-up.ts";

export type Json = Record<string, unknown>;

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: Json;
}

export interface StreamReply {
  readonly status: number;
  readonly events: Json[];
  readonly raw: string;
  /** Set if the body did not end properly. */
  readonly broken: unknown;
}

/** Starts an emulator that is closed after the test. */
export async function emulatorFor(options: EmulatorOptions = {}): Promise<Emulator> {
  const emulator = await startEmulator(options);
  afterTest(() => emulator.close());
  return emulator;
}

export function scripted(yaml: string, options: EmulatorOptions = {}): Promise<Emulator> {
  return emulatorFor({ ...options, scenario: loadScenario(yaml, "test.yaml") });
}

export async function post(
  emulator: Emulator,
  body: unknown,
  headers: Record<string, string> = {},
  path = "/responses",
): Promise<Reply> {
  const response = await fetch(emulator.baseUrl + path, {
    method: "POST",
    headers: { authorization: "Bearer sk-test", "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: parse(text) };
}

export async function get(emulator: Emulator, path: string, method = "GET", key = "sk-test"): Promise<Reply> {
  const response = await fetch(emulator.baseUrl + path, {
    method,
    headers: { authorization: `Bearer ${key}` },
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: parse(text) };
}

export async function stream(
  emulator: Emulator,
  body: Json,
  headers: Record<string, string> = {},
  path = "/responses",
): Promise<StreamReply> {
  const response = await fetch(emulator.baseUrl + path, {
    method: "POST",
    headers: { authorization: "Bearer sk-test", "content-type": "application/json", ...headers },
    body: JSON.stringify({ ...body, stream: true }),
  });
  const decoder = new TextDecoder();
  let raw = "";
  let broken: unknown;
  try {
    for await (const chunk of response.body ?? [])
      raw += decoder.decode(chunk as Uint8Array, { stream: true });
  } catch (error) {
    broken = error;
  }
  return { status: response.status, events: eventsIn(raw), raw, broken };
}

/** Whole events only; one cut in the middle does not count. */
export function eventsIn(raw: string): Json[] {
  const text = raw.replaceAll("\r\n", "\n");
  return text
    .slice(0, text.lastIndexOf("\n\n") + 1)
    .split("\n\n")
    .flatMap((block) => {
      const data = block.split("\n").find((line) => line.startsWith("data: "));
      if (data === undefined || data === "data: [DONE]") return [];
      return [parse(data.slice(6))];
    });
}

export const base = {
  model: "emu-reasoner",
  store: false,
  include: ["reasoning.encrypted_content"],
  reasoning: { effort: "medium", summary: "auto" },
} as const;

export const user = (text: string): Json => ({ role: "user", content: text });

export const outputOf = (reply: { readonly json: Json }): Json[] => reply.json["output"] as Json[];

export const result = (call: Json | undefined, output = "done"): Json => ({
  type: "function_call_output",
  call_id: call?.["call_id"],
  output,
});

export function without(item: Json | undefined, ...keys: string[]): Json {
  return Object.fromEntries(Object.entries(item ?? {}).filter(([key]) => !keys.includes(key)));
}

export function errorOf(reply: { readonly json: Json }): Json {
  return reply.json["error"] as Json;
}

function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return {};
  }
}
