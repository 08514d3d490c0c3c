/**
 * Random conversations: what a user, a network and a provider may do, as data. `play` plays them.
 *
 * @module
 */

import fc from "fast-check";

import type { Fault, FaultPoint } from "../../src/emulator/index.ts";
import type { Effort, ReplayPolicy } from "../../src/index.ts";

/**
 * home and other: two reasoning models. account: the first one under another key. plain: accepts no reasoning. bound:
 * drops reasoning whose prefix changed. bare: an endpoint to which no item ids are sent.
 */
export type ModelName = "home" | "other" | "account" | "plain" | "bound" | "bare";

export interface Send {
  readonly type: "send";
  readonly prompt: string;
  /** One per request, in order. */
  readonly faults: readonly Fault[];
  /** Cancelled after this many events have been seen. */
  readonly cancelAfter?: number;
  /** Cancelled by a running tool. */
  readonly cancelInTool?: true;
  /** For this turn only. */
  readonly effort?: Effort;
  readonly model?: ModelName;
}

/** `pick` chooses among the candidates, from 0 to 1. */
export type Action =
  | Send
  | { readonly type: "model"; readonly to: ModelName; readonly effort?: Effort }
  | { readonly type: "retry"; readonly faults: readonly Fault[]; readonly cancelAfter?: number }
  | {
      readonly type: "edit";
      readonly pick: number;
      readonly prompt: string;
      readonly faults: readonly Fault[];
    }
  | { readonly type: "keep_turns"; readonly turns: number }
  | { readonly type: "cut_from"; readonly pick: number }
  | { readonly type: "compact"; readonly keepTurns?: number; readonly faults: readonly Fault[] }
  | { readonly type: "checkout"; readonly pick: number }
  | { readonly type: "undo" }
  | { readonly type: "fork"; readonly pick?: number }
  | { readonly type: "reopen" }
  /** The process dies: only a prefix of the log is left. */
  | { readonly type: "crash"; readonly pick: number; readonly afterwards: "resume" | "send" };

export interface Conversation {
  readonly model: ModelName;
  readonly replay: ReplayPolicy;
  readonly permissions: "auto" | "read-only" | "function";
  readonly actions: readonly Action[];
}

/** The emulator's documented prompts (docs/emulator.md), and others to which it only makes conversation. */
export const PROMPTS = [
  "What is the weather in Paris?",
  "What is the weather in Rome and Oslo and Lima?",
  "Think of a number.",
  "Which number did you think of?",
  "Think without a summary.",
  "Please refuse this.",
  "Explain while you work.",
  "Look at two files, thinking in between.",
  "Do the five-step chain.",
  "Read a file that does not exist.",
  "Run a command that I will refuse.",
  'Search for "import".',
  "Find TODO in notes.txt and replace it with DONE.",
  "Write hello.txt.",
  "List the files.",
  "Give me the facts as JSON.",
  "Search the web for release notes.",
  "Thanks",
  "My name is Ada. Grüße 👋\u2028“a\\b”\u0000\ttab\r\nnew line",
] as const;

const nat = (max: number): fc.Arbitrary<number> => fc.integer({ min: 0, max });

const point: fc.Arbitrary<FaultPoint> = fc.oneof(
  fc.record({
    where: fc.constantFrom("before" as const, "after" as const),
    unit: fc.constant("item" as const),
    index: nat(4),
  }),
  fc.record({
    where: fc.constantFrom("before" as const, "after" as const),
    unit: fc.constant("event" as const),
    index: nat(30),
  }),
  fc.record({ where: fc.constant("after" as const), unit: fc.constant("byte" as const), index: nat(6000) }),
);

/** Present once in `times`, on average. */
function seldom<T>(arbitrary: fc.Arbitrary<T>, times: number): fc.Arbitrary<T | undefined> {
  return fc.oneof({ arbitrary: fc.constant(undefined), weight: times - 1 }, { arbitrary, weight: 1 });
}

const eventIndex = fc.integer({ min: -4, max: 24 });

/** Faults of the stream that leave a readable response. */
const harmless: fc.Arbitrary<Fault> = fc.oneof(
  fc.constant({ type: "late-ciphertext" as const }),
  fc.constant({ type: "done-only" as const }),
  fc.constant({ type: "empty-output" as const }),
  fc.constant({ type: "missing-output" as const }),
  fc.constant({ type: "double-terminal" as const }),
  fc.constant({ type: "unknown-event" as const }),
  fc.constant({ type: "unknown-item" as const }),
  fc.constant({ type: "crlf" as const }),
  fc.constant({ type: "bom" as const }),
  fc.record({ type: fc.constant("split" as const), bytes: fc.integer({ min: 1, max: 40 }) }),
  fc.record({ type: fc.constant("keepalive" as const), every: fc.integer({ min: 1, max: 5 }) }),
  fc.record({ type: fc.constant("duplicate-event" as const), index: eventIndex }),
  fc.record({ type: fc.constant("drop-event" as const), index: eventIndex }),
  fc.record({ type: fc.constant("swap-events" as const), index: eventIndex }),
  fc.constant({ type: "rotate-ids" as const }),
  fc.constant({ type: "rotate-ids" as const, length: 40 }),
);

/** Faults that end or replace a response. */
const harmful: fc.Arbitrary<Fault> = fc.oneof(
  fc.record({ type: fc.constantFrom("end" as const, "cut" as const, "reset" as const), at: point }),
  fc.record({ type: fc.constant("http" as const), status: fc.constantFrom(429, 500, 502, 503, 529) }),
  fc.constant({ type: "html" as const, status: 502 }),
  fc.record({
    type: fc.constant("incomplete" as const),
    reason: fc.constantFrom("max_output_tokens", "content_filter"),
    items: nat(3),
  }),
  fc.record({
    type: fc.constant("failed" as const),
    code: fc.constantFrom("server_error", "rate_limit_exceeded"),
    items: nat(3),
  }),
  fc.record({
    type: fc.constant("error-event" as const),
    shape: fc.constantFrom("nested" as const, "flat" as const),
    items: nat(3),
  }),
  fc.constant({ type: "no-terminal" as const }),
  fc.record({ type: fc.constant("bad-json" as const), index: eventIndex }),
  fc.constant({ type: "invalid-encrypted-content" as const }),
  fc.constant({ type: "rotate-key" as const }),
);

const fault: fc.Arbitrary<Fault> = fc.oneof(
  { arbitrary: fc.constant({ type: "none" as const }), weight: 6 },
  { arbitrary: harmless, weight: 3 },
  { arbitrary: harmful, weight: 3 },
  {
    arbitrary: fc.record({
      type: fc.constant("all" as const),
      faults: fc.array(harmless, { minLength: 2, maxLength: 3 }),
    }),
    weight: 1,
  },
);

const faults = fc.array(fault, { maxLength: 4 });
const modelName = fc.constantFrom<ModelName>("home", "home", "other", "account", "plain", "bound", "bare");
const effort = fc.constantFrom("low", "high");
const pick = fc.double({ min: 0, max: 1, noNaN: true });
const prompt = fc.constantFrom<string>(...PROMPTS);

const send: fc.Arbitrary<Send> = fc
  .record({
    prompt,
    faults,
    cancelAfter: seldom(nat(60), 6),
    cancelInTool: seldom(fc.constant(true as const), 8),
    effort: seldom(effort, 6),
    model: seldom(modelName, 10),
  })
  .map(({ cancelAfter, cancelInTool, effort: level, model, ...rest }) => ({
    type: "send",
    ...rest,
    ...(cancelAfter === undefined ? {} : { cancelAfter }),
    ...(cancelInTool === undefined ? {} : { cancelInTool }),
    ...(level === undefined ? {} : { effort: level }),
    ...(model === undefined ? {} : { model }),
  }));

const action: fc.Arbitrary<Action> = fc.oneof(
  { arbitrary: send, weight: 10 },
  {
    arbitrary: fc
      .record({ to: modelName, effort: fc.option(effort, { nil: undefined }) })
      .map(({ to, effort: level }): Action => ({
        type: "model",
        to,
        ...(level === undefined ? {} : { effort: level }),
      })),
    weight: 3,
  },
  {
    arbitrary: fc
      .record({ faults, cancelAfter: seldom(nat(60), 4) })
      .map(({ cancelAfter, ...rest }): Action => ({
        type: "retry",
        ...rest,
        ...(cancelAfter === undefined ? {} : { cancelAfter }),
      })),
    weight: 2,
  },
  { arbitrary: fc.record({ type: fc.constant("edit" as const), pick, prompt, faults }), weight: 1 },
  {
    arbitrary: fc.record({
      type: fc.constant("keep_turns" as const),
      turns: fc.integer({ min: 1, max: 3 }),
    }),
    weight: 1,
  },
  { arbitrary: fc.record({ type: fc.constant("cut_from" as const), pick }), weight: 1 },
  {
    arbitrary: fc
      .record({ faults, keepTurns: fc.option(nat(2), { nil: undefined }) })
      .map(({ keepTurns, ...rest }): Action => ({
        type: "compact",
        ...rest,
        ...(keepTurns === undefined ? {} : { keepTurns }),
      })),
    weight: 2,
  },
  { arbitrary: fc.record({ type: fc.constant("checkout" as const), pick }), weight: 1 },
  { arbitrary: fc.constant({ type: "undo" as const }), weight: 1 },
  {
    arbitrary: fc
      .option(pick, { nil: undefined })
      .map((at): Action => ({ type: "fork", ...(at === undefined ? {} : { pick: at }) })),
    weight: 1,
  },
  { arbitrary: fc.constant({ type: "reopen" as const }), weight: 1 },
  {
    arbitrary: fc.record({
      type: fc.constant("crash" as const),
      pick,
      afterwards: fc.constantFrom("resume" as const, "send" as const),
    }),
    weight: 2,
  },
);

const replay: fc.Arbitrary<ReplayPolicy> = fc.oneof(
  { arbitrary: fc.constant("all" as const), weight: 5 },
  {
    arbitrary: fc.constantFrom<ReplayPolicy>("since_last_user", "none", { maxItems: 1 }, { maxItems: 3 }),
    weight: 1,
  },
);

export interface ConversationOptions {
  readonly maxActions: number;
  /** Nothing that makes the provider refuse what it accepted before: no key rotation, no model that accepts less. */
  readonly steady?: true;
}

export function conversations(options: ConversationOptions): fc.Arbitrary<Conversation> {
  const any = wild(options);
  return options.steady === true ? any.map(steady) : any;
}

const UNSTEADY: ReadonlySet<string> = new Set(["rotate-key", "invalid-encrypted-content"]);

function calm(list: readonly Fault[]): readonly Fault[] {
  return list.map((one) => (UNSTEADY.has(one.type) ? { type: "none" } : one));
}

function takingAll(name: ModelName): ModelName {
  return name === "plain" ? "other" : name;
}

function steady(conversation: Conversation): Conversation {
  const actions = conversation.actions.map((one): Action => {
    if (one.type === "model") return { ...one, to: takingAll(one.to) };
    if (one.type === "send")
      return {
        ...one,
        faults: calm(one.faults),
        ...(one.model === undefined ? {} : { model: takingAll(one.model) }),
      };
    return "faults" in one ? { ...one, faults: calm(one.faults) } : one;
  });
  return { ...conversation, model: takingAll(conversation.model), actions };
}

function wild(options: ConversationOptions): fc.Arbitrary<Conversation> {
  return fc.record({
    model: modelName,
    replay,
    permissions: fc.constantFrom("auto" as const, "read-only" as const, "function" as const),
    actions: fc
      .tuple(send, fc.array(action, { maxLength: options.maxActions - 1 }))
      .map(([first, rest]) => [first, ...rest]),
  });
}
