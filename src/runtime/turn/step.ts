/**
 * One step: one request and one response. A retried or healed request is another attempt of the same step.
 *
 * fold → render → check → log (durable) → send → record; then the step is done, or is healed and sent again, or is
 * retried after a wait, or continues on another model, or fails.
 */

import { setImmediate } from "node:timers/promises";

import {
  type Dialect,
  type ErrorInfo,
  errorInfoOf,
  type EventDraft,
  eventsWhere,
  type ResponseStart,
  typedEvent,
} from "../../base/events/index.ts";
import { codedError, codeOf } from "../../base/support/index.ts";
import { LOG_TOO_LARGE } from "../log/index.ts";
import {
  isOutOfService,
  type Model,
  remedyFor,
  type RenderContext,
  type RenderedRequest,
  type StreamEnd,
} from "../providers/index.ts";
import { Budget, type OverBudget } from "./budget.ts";
import type { StepSetup, TurnContext } from "./context.ts";
import { healingOf, pathOf, ruleError } from "./heal.ts";
import type { LiveLog } from "./live-log.ts";
import { ResponseRecorder } from "./record.ts";

export interface StepOutcome {
  readonly response: string;
  readonly end: StreamEnd;
  /** Set if the step was not sent again because a cost limit is reached. */
  readonly over?: OverBudget | undefined;
}

export async function runStep(
  context: TurnContext,
  step: number,
  budget = new Budget(context),
): Promise<StepOutcome> {
  const failed: Failure[] = [];
  let healed: (readonly EventDraft[])[] = [];
  let retries = 0;
  let refused: ErrorInfo | undefined;
  for (let attempt = 1 + attemptsBefore(context, step); ; attempt += 1) {
    const setup = await applySettings(context);
    await renderAhead(context, setup);
    await context.live.blobs.load();
    const rendered = render(context, setup);
    const sent = await sendOnce(context, { setup, rendered, step, attempt });
    const { response, end } = sent;
    ({ attempt } = sent);
    if (end.status === "completed" || end.status === "incomplete" || end.status === "cancelled")
      return { response, end };
    const error = end.error ?? { code: "unknown", message: "the response failed without saying why" };

    const healing = healingOf({ error, rendered, target: setup.settings.target }, healed);
    // A failed attempt may have cost the rest of the budget.
    const over = healing !== undefined || mayRetry(error, retries, context) ? budget.over() : undefined;
    if (over !== undefined) return { response, end, over };
    if (healing !== undefined) {
      healed.push(healing);
      refused ??= error;
      await context.live.append(healing.map((draft) => ({ ...draft, turn: context.turn })));
      continue;
    }
    if (mayRetry(error, retries, context)) {
      retries += 1;
      const delayMs = delayBefore(retries, error, context.random());
      context.live.publish([
        { type: "retry", turn: context.turn, response, attempt: attempt + 1, delayMs, error },
      ]);
      if (await sleptFully(context, delayMs)) continue;
      return { response, end: { ...end, status: "cancelled" } };
    }
    const { label } = setup.model;
    const next = isOutOfService(error) ? context.fallBack() : undefined;
    if (next !== undefined) {
      failed.push({ label, error });
      await context.live.append([fallbackNotice(context, { label, error }, next)]);
      const afford = budget.over();
      if (afford !== undefined) return { response, end, over: afford };
      [healed, retries, refused] = [[], 0, undefined];
      continue;
    }
    // A person needs to see the first refusal, not the error that a correction led to. An outage is neither.
    const shown = refused === undefined || isTransient(error) ? error : refused;
    return { response, end: { ...end, error: allNamed(failed, { label, error: shown }) } };
  }
}

/** Why a model did not answer. */
interface Failure {
  readonly label: string;
  readonly error: ErrorInfo;
}

function fallbackNotice({ turn }: TurnContext, failure: Failure, next: Model): EventDraft {
  const { label, error } = failure;
  const message = `${label} did not answer: ${briefly(error)}. ${next.label} continues this turn`;
  return { type: "notice", turn, code: "model_fallback", message, error };
}

/** If several models failed, names each one and why. */
function allNamed(failed: readonly Failure[], last: Failure): ErrorInfo {
  if (failed.length === 0 || remedyFor(last.error).remedy === "compact") return last.error;
  const all = [...failed, last].map(({ label, error }) => `${label}: ${briefly(error)}`);
  return { ...last.error, message: `no model answered. ${all.join("; ")}` };
}

const MAX_REASON = 500;

function briefly({ message, code }: ErrorInfo): string {
  return `${message.slice(0, MAX_REASON).replace(/[.\s]+$/, "")} [${code}]`;
}

/** A resumed turn continues the count. */
function attemptsBefore(context: TurnContext, step: number): number {
  const last = context.live.fold.entries.at(-1);
  return last?.kind === "group" && last.start.turn === context.turn && last.start.step === step
    ? last.start.attempt
    : 0;
}

/** Logs settings that changed, so that they apply to this step. */
async function applySettings(context: TurnContext): Promise<StepSetup> {
  const setup = context.setup();
  const before = context.live.fold.settings;
  if (before === setup.settings) return setup;
  const draft = { type: "settings" as const, turn: context.turn, settings: setup.settings };
  const logged = typedEvent(draft);
  const after = typeof logged === "string" ? setup.settings : logged.settings;
  if (before !== undefined && JSON.stringify(before) === JSON.stringify(after)) return setup;
  await context.live.append([draft]);
  return setup;
}

/** Some 25 ms of work. */
const RENDERED_AT_ONCE = 1024;

/** Renders most of a long history in parts. The event loop is free between them. */
async function renderAhead({ live }: TurnContext, { renderer }: StepSetup): Promise<void> {
  for (;;) {
    await live.blobs.load();
    const plan = live.fold.planAhead(RENDERED_AT_ONCE);
    if (plan === undefined) return;
    renderer.renderAhead(plan, renderContextOf(live));
    await setImmediate();
  }
}

function render({ live }: TurnContext, { renderer }: StepSetup): RenderedRequest {
  const plan = live.fold.plan();
  if (plan === undefined) throw codedError("no_settings", "the log has no settings yet");
  return renderer.render(plan, renderContextOf(live));
}

function renderContextOf(live: LiveLog): RenderContext {
  return { cacheKey: live.rootSession, blob: (name) => live.blobs.get(name) };
}

interface Attempt {
  readonly setup: StepSetup;
  readonly rendered: RenderedRequest;
  readonly step: number;
  readonly attempt: number;
}

/** Returns the attempt that counts. An answer in which another one began is two attempts. */
async function sendOnce(
  context: TurnContext,
  { setup, rendered, step, attempt: first }: Attempt,
): Promise<StepOutcome & Pick<Attempt, "attempt">> {
  const { bodyHash, prefixHash } = rendered;
  const origin = setup.settings.target;
  let attempt = first;
  let response = context.ids.next("rsp");
  const start = (): EventDraft => ({
    type: "response_start",
    turn: context.turn,
    response,
    step,
    attempt,
    purpose: context.purpose,
    origin,
    bodyHash,
    prefixHash,
    ...leftOut(context, rendered),
  });
  // The sync before the first request byte also covers the user's message or the tools' results.
  await context.live.append([...remarks(context, rendered), start()], { durable: true });
  const recorder = new ResponseRecorder(context, response, async () => {
    attempt += 1;
    response = context.ids.next("rsp");
    await context.live.append([start()]);
    return response;
  });
  const broken = ruleViolation(rendered, origin.dialect);
  if (broken !== undefined) {
    const end: StreamEnd = { status: "failed", error: broken };
    await recorder.close(end);
    return { response, attempt, end };
  }
  await context.live.assertWriter();
  const request = response;
  context.onWire?.({ type: "request", response: request, body: rendered.body });
  const stream = setup.model.send(rendered.body, {
    signal: context.signal,
    timeouts: {
      connectMs: context.limits.connectTimeoutMs,
      firstByteMs: context.limits.firstByteTimeoutMs,
      idleMs: context.limits.idleTimeoutMs,
    },
    fetch: context.fetch,
    ...(context.onWire === undefined
      ? {}
      : { onBytes: (bytes) => context.onWire?.({ type: "bytes", response: request, bytes }) }),
  });
  let end: StreamEnd;
  try {
    for await (const batch of stream) {
      const logged = recorder.take(batch);
      if (logged !== undefined) await logged;
    }
    end = recorder.end ?? { status: "cut" };
    await recorder.close(end);
  } catch (error) {
    if (codeOf(error) === LOG_TOO_LARGE) await recorder.abandon(errorInfoOf(error));
    throw error;
  }
  await context.live.append([...unread(context, end), ...cleared(context, end)]);
  return { response, attempt, end };
}

/** Notices logged before the request is sent, once per turn. */
function remarks(context: TurnContext, rendered: RenderedRequest): readonly EventDraft[] {
  if (rendered.remarks.length === 0) return [];
  const { turn, live } = context;
  const reported = new Set(
    eventsWhere(live.log.events, (head) => head.type === "notice" && head.turn === turn).map((event) =>
      event.type === "notice" ? event.code : "",
    ),
  );
  return rendered.remarks
    .filter(({ code }) => !reported.has(code))
    .map(({ code, message }) => ({ type: "notice", turn, code, message }));
}

/** A notice about thoughts the provider did not read (failures.md C10). */
function unread(context: TurnContext, end: StreamEnd): readonly EventDraft[] {
  const thoughts = end.unread ?? [];
  if (thoughts.length === 0) return [];
  const reasons = [...new Set(thoughts.map(({ reason }) => reason))].join(", ");
  const message = `the provider did not read ${thoughts.length} of the thoughts it was sent (${reasons})`;
  return [{ type: "notice", turn: context.turn, code: "thoughts_unread", message }];
}

/** A notice about what the provider cleared before the model read it, because the user's settings request that. */
function cleared(context: TurnContext, end: StreamEnd): readonly EventDraft[] {
  const edits = end.appliedEdits ?? [];
  if (edits.length === 0) return [];
  const tokens = edits.reduce((sum, { clearedTokens = 0 }) => sum + clearedTokens, 0);
  const types = edits.map(({ type }) => type).join(", ");
  const message = `the provider cleared ${tokens} tokens of the conversation before it answered (${types}); the log still has them`;
  return [{ type: "notice", turn: context.turn, code: "context_edited", message }];
}

/** A request that breaks our own rules is not sent. That is a defect, handled like the refusal it would have caused. */
function ruleViolation({ violations }: RenderedRequest, dialect: Dialect): ErrorInfo | undefined {
  const [first] = violations;
  if (first === undefined) return undefined;
  return ruleError(first, pathOf(first, dialect));
}

/** Recorded in full only when it changed: a long session would otherwise repeat it with every step. */
function leftOut(
  context: TurnContext,
  rendered: RenderedRequest,
): Pick<ResponseStart, "leftOut" | "leftOutAs"> {
  const { leftOut: now } = rendered;
  if (now.length === 0) return {};
  const { events } = context.live.log;
  const last = events.findLast((event): event is ResponseStart => event.type === "response_start");
  const base = last?.leftOutAs === undefined ? last : (events[last.leftOutAs] as ResponseStart);
  if (base?.leftOut !== undefined && JSON.stringify(base.leftOut) === JSON.stringify(now))
    return { leftOutAs: base.seq };
  return { leftOut: now };
}

function mayRetry(error: ErrorInfo, retries: number, { limits }: TurnContext): boolean {
  return isTransient(error) && retries < limits.maxRetries;
}

function isTransient(error: ErrorInfo): boolean {
  return remedyFor(error).remedy === "retry";
}

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 8_000;

function delayBefore(retry: number, error: ErrorInfo, random: number): number {
  if (error.retryAfterMs !== undefined) return error.retryAfterMs;
  const delay = Math.min(FIRST_DELAY_MS * 2 ** (retry - 1), MAX_DELAY_MS);
  return Math.round(delay * (0.75 + random * 0.5));
}

async function sleptFully(context: TurnContext, delayMs: number): Promise<boolean> {
  try {
    await context.clock.sleep(delayMs, context.signal);
    return true;
  } catch {
    return false;
  }
}
