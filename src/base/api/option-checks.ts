/** What the methods of a session handle accept. Local and remote sessions refuse the same options. */

import type { ElicitationAnswer } from "../events/index.ts";
import {
  aChoice,
  aCount,
  aFlag,
  aFunction,
  anAfter,
  anObject,
  anything,
  aSeq,
  aSignal,
  aText,
  checkArgument,
  checkOptions,
  type OptionChecks,
} from "../support/index.ts";
import type { OpenHandleOptions } from "./agent-handle.ts";
import type { ExplainOptions } from "./request-views.ts";
import type {
  CompactOptions,
  EditOptions,
  EventsOptions,
  FollowOptions,
  ForkOptions,
  HandleSendOptions,
  ResumeOptions,
  RetryOptions,
  SessionHandle,
  TurnOptions,
} from "./session-handle.ts";

const turn = {
  signal: aSignal,
  turn: aText,
  ready: aFunction,
  bufferEvents: aFlag,
} satisfies OptionChecks<TurnOptions>;

type OptionsOf<Method extends keyof SessionHandle, Index extends number> = SessionHandle[Method] extends (
  ...args: infer Arguments
) => unknown
  ? NonNullable<Arguments[Index]>
  : never;

const anAction = aChoice("accept", "decline", "cancel");

/** The checks of each method's options, by the method's name. */
export const HANDLE_OPTIONS = {
  send: {
    ...turn,
    model: aText,
    // An unknown effort has an error code of its own.
    effort: anything,
    output: anObject,
    whenBusy: aChoice("queue", "reject", "steer"),
  } satisfies OptionChecks<HandleSendOptions>,
  resume: { ...turn, output: anObject } satisfies OptionChecks<ResumeOptions>,
  retry: { ...turn, from: aChoice("message"), output: anObject } satisfies OptionChecks<RetryOptions>,
  edit: { ...turn, output: anObject } satisfies OptionChecks<EditOptions>,
  approve: { argumentsHash: aText, forSession: aFlag } satisfies OptionChecks<OptionsOf<"approve", 1>>,
  answer: { action: anAction, content: anObject } satisfies OptionChecks<OptionsOf<"answer", 1>>,
  fork: { at: aSeq, id: aText, compacted: aFlag } satisfies OptionChecks<ForkOptions>,
  // A wrong number of turns has an error code of its own.
  compact: {
    instructions: aText,
    keepTurns: anything,
    signal: aSignal,
  } satisfies OptionChecks<CompactOptions>,
  checkout: { to: aSeq } satisfies OptionChecks<OptionsOf<"checkout", 0>>,
  events: { after: anAfter, path: aChoice("active", "all") } satisfies OptionChecks<EventsOptions>,
  follow: { after: anAfter, signal: aSignal } satisfies OptionChecks<FollowOptions>,
  preview: { model: aText } satisfies OptionChecks<OptionsOf<"preview", 0>>,
  explain: { request: aCount(1) } satisfies OptionChecks<ExplainOptions>,
} as const;

/** The checks of `open`'s options. */
export const OPEN_OPTIONS = {
  id: aText,
  mode: aChoice("write", "read"),
} satisfies OptionChecks<OpenHandleOptions>;

/** Throws `options_invalid` for options that a method of a handle does not have. */
export function checkHandleOptions(method: keyof typeof HANDLE_OPTIONS, given: unknown): void {
  checkOptions(method, given, HANDLE_OPTIONS[method]);
}

/** Throws `options_invalid` for an answer without an action, or with anything but values. */
export function checkAnswer(given: ElicitationAnswer): void {
  checkHandleOptions("answer", given);
  checkArgument("answer", "action", given.action, anAction);
}
