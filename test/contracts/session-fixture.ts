/** Sessions against a strict emulator, scripted step by step. Everything is closed after the test. */

import {
  type Emulator,
  type EmulatorOptions,
  loadScenario,
  startEmulator,
} from "../../src/emulator/index.ts";
import {
  type Agent,
  type AgentOptions,
  createAgent,
  type LoggedEvent,
  type Model,
  openai,
  type OpenAiOptions,
  type Session,
  type SessionEvent,
  type Store,
  tool,
  type Tool,
  type ToolContext,
  type Turn,
  type TurnResult,
} from "../../src/index.ts";
import { afterTest } from "./file-fixture.ts";

/** One answer as in a scenario file: `output`, `status`, `faults` … */
export interface ScriptStep {
  readonly output: readonly object[];
  readonly when?: string;
  readonly status?: string;
  readonly reason?: string;
  readonly faults?: string | readonly string[];
}

export interface Scripted {
  readonly emulator: Emulator;
  readonly agent: Agent;
  readonly session: Session;
  readonly model: (name?: string, options?: OpenAiOptions) => Model;
}

export const KEY = "sk-fixture-0123456789";

export async function scriptedSession(
  script: readonly ScriptStep[] | undefined,
  options: Partial<AgentOptions> & {
    readonly emulator?: EmulatorOptions;
    readonly store?: Store;
    readonly id?: string;
    readonly afterwards?: "model" | "repeat" | "error";
  } = {},
): Promise<Scripted> {
  const { emulator: emulatorOptions, store, id = "s1", afterwards = "model", ...agentOptions } = options;
  const emulator = await startEmulator({
    ...emulatorOptions,
    ...(script === undefined
      ? {}
      : { scenario: loadScenario(JSON.stringify({ steps: script, afterwards }), "test.json") }),
  });
  afterTest(() => emulator.close());
  const model = (name = "emu-reasoner", modelOptions: OpenAiOptions = {}): Model =>
    openai(name, { apiKey: KEY, baseUrl: emulator.baseUrl, ...modelOptions });
  const agent = createAgent({ model: model(), ...agentOptions });
  const session = await agent.open({ id, ...(store === undefined ? {} : { store }) });
  afterTest(() => session.close());
  return { emulator, agent, session, model };
}

export async function history(session: Session): Promise<readonly LoggedEvent[]> {
  const events: LoggedEvent[] = [];
  for await (const event of session.events()) events.push(event);
  return events;
}

export async function eventsOf(turn: Turn): Promise<readonly SessionEvent[]> {
  const events: SessionEvent[] = [];
  for await (const event of turn) events.push(event);
  return events;
}

export const ofType = <T extends SessionEvent["type"]>(
  events: readonly SessionEvent[],
  type: T,
): readonly Extract<SessionEvent, { readonly type: T }>[] =>
  events.filter((event): event is Extract<SessionEvent, { readonly type: T }> => event.type === type);

/** Plays the turn. Returns its result and the events it logged. */
export async function play(
  turn: Turn,
): Promise<{ readonly result: TurnResult; readonly events: readonly SessionEvent[] }> {
  const events = await eventsOf(turn);
  return { result: await turn.result(), events };
}

export const say = (text: string): object => ({ message: text });
export const think = (text: string): object => ({ reasoning: [`**${text}**\n\nBody.`] });
export const call = (name: string, args: object | string = {}): object => ({
  function_call: { name, arguments: args },
});

/** A tool that accepts any input. */
export function anyTool(
  name: string,
  run: (input: Readonly<Record<string, unknown>>, context: ToolContext) => unknown,
  more: {
    readonly access?: "read" | "write" | "execute";
    readonly timeoutMs?: number;
    readonly idempotent?: boolean;
    readonly parallel?: boolean;
  } = {},
): Tool {
  return tool({
    name,
    description: `Test tool ${name}`,
    input: { type: "object", properties: {}, additionalProperties: true },
    access: "read",
    ...more,
    run,
  });
}

export function inputOf(emulator: Emulator, request: number): readonly Record<string, unknown>[] {
  const text =
    emulator.exchanges.filter(({ path }) => path.endsWith("/responses"))[request]?.requestText ?? "{}";
  return (JSON.parse(text) as { readonly input?: readonly Record<string, unknown>[] }).input ?? [];
}

/** A promise and the function that resolves it. */
export function gate<T = void>(): { readonly promise: Promise<T>; readonly open: (value: T) => void } {
  let open: ((value: T) => void) | undefined;
  const promise = new Promise<T>((done) => {
    open = done;
  });
  return { promise, open: (value) => open?.(value) };
}
