/** Sessions against the strict emulator, and a server that refuses as scripted. Nothing of the product is replaced. */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { expect } from "vitest";

import {
  type Emulator,
  type EmulatorOptions,
  type Fault,
  loadScenario,
  parseFaults,
  startEmulator,
} from "../../src/emulator/index.ts";
import {
  type AgentOptions,
  type Clock,
  createAgent,
  type LoggedEvent,
  memoryStore,
  type Model,
  openai,
  type OpenAiOptions,
  type Session,
  type SessionEvent,
  type Store,
  tool,
  type Tool,
  type TurnResult,
} from "../../src/index.ts";
import { afterTest } from "../support/clean-up.ts";

export type Json = Record<string, unknown>;

/** Requests that our own rules held back. The fold must not rely on the rules: that would hide its defects. */
async function ownRefusals(store: Store): Promise<readonly string[]> {
  const log = await store.open("bench", { mode: "read" });
  return ofType(log.events, "response_end").flatMap(({ error }) =>
    error?.code === "rule_violation" ? [error.message] : [],
  );
}

/** Closed after the test, last opened first. */
export function closeLater<T extends { close(): Promise<void> }>(one: T): T {
  afterTest(() => one.close());
  return one;
}

/** Waits cost no time and are recorded. */
export function impatientClock(): Clock & { readonly slept: number[] } {
  const slept: number[] = [];
  return {
    slept,
    now: () => Date.now(),
    monotonic: () => performance.now(),
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      slept.push(ms);
    },
  };
}

export interface Step {
  readonly output: readonly Json[];
  readonly status?: "completed" | "incomplete" | "failed";
  readonly reason?: string;
  readonly error?: { readonly code: string; readonly message: string };
  readonly faults?: readonly string[];
}

export interface Options {
  /** Scripted answers; after them the built-in model answers. */
  readonly steps?: readonly Step[];
  /** One per request, in the emulator's text form; "none" skips one. */
  readonly faults?: readonly string[];
  readonly emulator?: Omit<EmulatorOptions, "faults" | "scenario">;
  readonly agent?: Partial<AgentOptions>;
  readonly model?: string;
  readonly openai?: OpenAiOptions;
  readonly tools?: readonly Tool[];
}

export interface Bench {
  readonly emulator: Emulator;
  readonly session: Session;
  readonly store: Store;
  readonly clock: ReturnType<typeof impatientClock>;
  /** The same endpoint with other options: another model or key. */
  model(name?: string, options?: OpenAiOptions): Model;
  /** Sends, waits, and returns how the turn ended. */
  say(text: string): Promise<TurnResult>;
  /** Like `say`, but the turn must have completed. */
  ask(text: string): Promise<string>;
  log(): Promise<readonly LoggedEvent[]>;
  /** Closes the session and opens it again from its log, by another agent if options are given. */
  reopen(agent?: Partial<AgentOptions>): Promise<Session>;
}

export const KEY = "sk-bench-0001";

export async function bench(options: Options = {}): Promise<Bench> {
  const scenario =
    options.steps === undefined
      ? {}
      : { scenario: loadScenario(JSON.stringify({ steps: options.steps }), "test.json") };
  const emulator = closeLater(
    await startEmulator({
      ...options.emulator,
      ...scenario,
      faults: (options.faults ?? []).map(faultOf),
    }),
  );
  const model = (name = options.model ?? "emu-reasoner", more: OpenAiOptions = {}): Model =>
    openai(name, { apiKey: KEY, baseUrl: emulator.baseUrl, ...options.openai, ...more });
  return Object.assign(await sessionOn(model, options), { emulator });
}

function faultOf(text: string): Fault {
  const faults = parseFaults(text);
  const [first] = faults;
  return faults.length === 1 && first !== undefined ? first : { type: "all", faults };
}

/** A session on the model's own endpoint. */
export async function sessionOn(
  model: (name?: string, more?: OpenAiOptions) => Model,
  options: Pick<Options, "agent" | "tools">,
): Promise<Omit<Bench, "emulator">> {
  const store = memoryStore();
  afterTest(async () => expect(await ownRefusals(store)).toEqual([]));
  const clock = impatientClock();
  const base: AgentOptions = {
    model: model(),
    tools: options.tools ?? [],
    permissions: "auto",
    clock,
    ...options.agent,
  };
  let session = closeLater(await createAgent(base).open({ id: "bench", store }));
  const say = (text: string): Promise<TurnResult> => session.send(text).result();
  return {
    store,
    clock,
    model,
    say,
    get session() {
      return session;
    },
    async ask(text) {
      const result = await say(text);
      expect(result).toMatchObject({ status: "completed" });
      return result.text;
    },
    log: () => all(session.events()),
    async reopen(agent = {}) {
      await session.close();
      session = closeLater(await createAgent({ ...base, ...agent }).open({ id: "bench", store }));
      return session;
    },
  };
}

export async function all<T>(events: AsyncIterable<T>): Promise<readonly T[]> {
  const list: T[] = [];
  for await (const event of events) list.push(event);
  return list;
}

/** Reads a turn's events until one matches and returns that one; the turn continues. */
export async function until(
  events: AsyncIterable<SessionEvent>,
  fits: (event: SessionEvent) => boolean,
): Promise<SessionEvent> {
  for await (const event of events) if (fits(event)) return event;
  throw new Error("the turn ended before the event came");
}

/** A promise and the function that resolves it. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  const waiting: (() => void)[] = [];
  const promise = new Promise<void>((resolve) => {
    waiting.push(resolve);
  });
  return { opened: promise, open: () => waiting[0]?.() };
}

export function ofType<T extends LoggedEvent["type"]>(
  events: readonly LoggedEvent[],
  type: T,
): readonly Extract<LoggedEvent, { readonly type: T }>[] {
  return events.filter((event): event is Extract<LoggedEvent, { readonly type: T }> => event.type === type);
}

/** The bodies of the requests that reached the server, in order. */
export function bodies(emulator: Emulator): readonly Json[] {
  return emulator.exchanges
    .filter(({ method, path }) => method === "POST" && path.endsWith("/responses"))
    .map(({ requestText }) => JSON.parse(requestText) as Json);
}

export function lastInput(emulator: Emulator): readonly Json[] {
  return inputOf(bodies(emulator).at(-1));
}

export function inputOf(body: Json | undefined): readonly Json[] {
  return (body?.["input"] ?? []) as readonly Json[];
}

/** Item types with a mark for the role, "+" for an id: short enough to compare a whole request at once. */
export function outline(input: readonly Json[]): readonly string[] {
  return input.map((item) => {
    const what = (item["role"] ?? item["type"]) as string;
    return "id" in item ? `${what}+` : what;
  });
}

/** The items as the stream's `output_item.done` delivered them, per exchange. */
export function issued(emulator: Emulator): readonly Json[] {
  return emulator.exchanges.flatMap(({ events }) =>
    events
      .filter((event) => event["type"] === "response.output_item.done")
      .map((event) => event["item"] as Json),
  );
}

/** Nothing was refused, everything that could go back did, and no request changed what an earlier one had sent. */
export function expectSound(emulator: Emulator): void {
  const { requests, totals } = emulator.report();
  expect(requests.filter((one) => one.verdict === "refused")).toEqual([]);
  expect(totals).toMatchObject({ refused: 0, recall: 1, prefixBreaks: 0 });
}

export function expectNoneRefused(emulator: Emulator): void {
  expect(emulator.report().requests.filter((one) => one.verdict === "refused")).toEqual([]);
}

/** A read-only tool that returns its input, and counts its runs. */
export function echoTool(name = "look_up"): Tool & { readonly runs: string[] } {
  const runs: string[] = [];
  const made = tool({
    name,
    description: "Looks something up",
    input: {
      type: "object",
      properties: { q: { type: "string" } },
      required: ["q"],
      additionalProperties: false,
    },
    access: "read",
    run: (input) => {
      const { q } = input as { readonly q: string };
      runs.push(q);
      return `found ${q}`;
    },
  });
  return { ...made, runs };
}

export const thought = (summary = "**Thinking**\n\nIt over.", more: Json = {}): Json => ({
  reasoning: { summary: [summary], ...more },
});
export const bare = (): Json => ({ reasoning: { summary: ["**Bare**\n\nNo payload."], ciphertext: false } });
export const says = (text: string): Json => ({ message: text });
export const calls = (q: string, more: Json = {}): Json => ({
  function_call: { name: "look_up", arguments: { q }, ...more },
});

/** Changes a finished log as no API would: reads the events, appends what it is given, closes. */
export async function appendToLog(
  target: Pick<Bench, "session" | "store">,
  drafts: (events: readonly LoggedEvent[]) => readonly object[],
): Promise<void> {
  await target.session.close();
  const log = await target.store.open("bench", { mode: "write" });
  await log.append(drafts(log.events) as Parameters<typeof log.append>[0]);
  await log.close();
}

export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A JSON body. */
  readonly json?: unknown;
  /** A stream of these events. */
  readonly events?: readonly Json[];
  readonly text?: string;
}

export interface ScriptedServer {
  readonly baseUrl: string;
  readonly bodies: readonly Json[];
  close(): Promise<void>;
}

/** Answers each request as scripted, to get refusals that our own requests never provoke. */
export async function scriptedServer(
  answer: (body: Json, request: number) => Answer,
): Promise<ScriptedServer> {
  const seen: Json[] = [];
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = JSON.parse(Buffer.concat(pieces).toString("utf8")) as Json;
    seen.push(body);
    const { status = 200, headers = {}, json, events, text } = answer(body, seen.length);
    const type = events === undefined ? "application/json" : "text/event-stream";
    response.writeHead(status, { "content-type": type, ...headers });
    response.end(
      events === undefined
        ? (text ?? JSON.stringify(json))
        : events
            .map((event) => `event: ${event["type"] as string}\ndata: ${JSON.stringify(event)}\n\n`)
            .join(""),
    );
  };
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return closeLater({
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    bodies: seen,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
}

/** A session on a scripted server. */
export async function scriptedBench(
  answer: (body: Json, request: number) => Answer,
  options: Pick<Options, "agent" | "tools" | "openai"> = {},
): Promise<Omit<Bench, "emulator"> & { readonly server: ScriptedServer }> {
  const server = await scriptedServer(answer);
  const model = (name = "test-model", more: OpenAiOptions = {}): Model =>
    openai(name, { apiKey: KEY, baseUrl: server.baseUrl, ...options.openai, ...more });
  return Object.assign(await sessionOn(model, options), { server });
}

/** A whole good stream with these items at these indexes. */
export function completed(
  items: readonly Json[],
  response: Json = {},
  indexes: readonly number[] = [],
): Answer {
  const about = { id: "resp_1", object: "response", model: "test-model", ...response };
  return {
    events: [
      { type: "response.created", response: { ...about, status: "in_progress", output: [] } },
      ...items.flatMap((item, position) => {
        const output_index = indexes[position] ?? position;
        return [
          { type: "response.output_item.added", output_index, item: { type: item["type"] } },
          { type: "response.output_item.done", output_index, item },
        ];
      }),
      {
        type: "response.completed",
        response: { ...about, status: "completed", output: items, usage: null },
      },
    ],
  };
}

export function refusal(status: number, error: Json): Answer {
  return { status, json: { error: { type: "invalid_request_error", param: null, code: null, ...error } } };
}

let ids = 0;
const nextId = (prefix: string): string => `${prefix}_${String((ids += 1)).padStart(24, "0")}`;

export const rsItem = (more: Json = {}): Json => ({
  id: nextId("rs"),
  type: "reasoning",
  summary: [],
  encrypted_content: `gAAAA${nextId("blob")}`,
  ...more,
});
export const msgItem = (text: string, more: Json = {}): Json => ({
  id: nextId("msg"),
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, annotations: [], logprobs: [] }],
  ...more,
});
export const fcItem = (q: string, more: Json = {}): Json => ({
  id: nextId("fc"),
  type: "function_call",
  status: "completed",
  call_id: nextId("call"),
  name: "look_up",
  arguments: JSON.stringify({ q }),
  ...more,
});
