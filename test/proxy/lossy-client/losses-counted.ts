/** Counts what the client lost of each request, what of it could come back in principle, and what did. */

import { exactBefore, placeBefore, thoughtBefore } from "./dialect.ts";
import { type Arrival, type Exchange, failureOf } from "./exchange.ts";
import type { Tally } from "./tally.ts";
import type { Answer, SeenThought, Slot, Thought, Truth } from "./truth.ts";
import { likenessOf } from "./twins.ts";

interface Run {
  readonly answer: Answer;
  /** Sent slots from `start` up to `end`. */
  readonly start: number;
  readonly end: number;
  /** Every visible member is there, once, in order and as issued. */
  readonly intact: boolean;
}

interface Options {
  readonly exchange: Exchange;
  readonly final: Arrival;
  readonly truth: Truth;
  readonly tally: Tally;
  readonly rows: readonly string[];
  readonly healed: boolean;
}

export function countLosses(options: Options): void {
  for (const run of runsIn(options.exchange.sent.slots)) {
    for (const thought of run.answer.thoughts) countThought(run, thought, options);
  }
}

/** Whether a thought is missing that the model insists on and that nobody may put there. */
export function isHopeless(exchange: Exchange): boolean {
  const { dialect, model, sent } = exchange;
  if (model.insists !== true) return false;
  return runsIn(sent.slots).some((run) => {
    const { answer } = run;
    const slots = sent.slots.slice(run.start, run.end);
    const has = answer.thoughts.some((thought) =>
      slots.some(({ thoughts }) => thoughts.some((seen) => dialect.same(thought, seen))),
    );
    return (
      answer.calls.length > 0 && !has && (answer.thoughts.length === 0 || whyNot(run, exchange) !== undefined)
    );
  });
}

function runsIn(slots: readonly Slot[]): readonly Run[] {
  const runs: Run[] = [];
  let at = 0;
  while (at < slots.length) {
    const start = at;
    const from = slots[at]?.from;
    at += 1;
    if (from === undefined) continue;
    const { answer } = from;
    while (slots[at]?.from?.answer === answer) at += 1;
    const own = slots.slice(start, at).map((slot) => slot.from);
    const members = own.flatMap((one) => one?.members ?? []);
    const whole = members.length === answer.members && members.every((member, index) => member === index);
    runs.push({ answer, start, end: at, intact: whole && own.every((one) => one?.changed !== true) });
  }
  return runs;
}

function countThought(
  run: Run,
  thought: Thought,
  { exchange, final, truth, tally, rows, healed }: Options,
): void {
  const { dialect, sent } = exchange;
  const slots = sent.slots.slice(run.start, run.end);
  const has = (some: readonly Slot[]): boolean =>
    some.some(({ thoughts }) =>
      thoughts.some((seen) => dialect.same(thought, seen) && dialect.whole(thought, seen)),
    );
  const { toSent } = final.alignment;
  const arrived = final.reading.slots.filter((_, at) => {
    const index = toSent[at] ?? -1;
    return index >= run.start && index < run.end;
  });
  if (has(slots)) {
    tally.fact("thoughts kept by the client");
    return;
  }
  tally.count(rows, "lost");
  const why = whyNot(run, exchange) ?? whyNotBound(run, exchange, final);
  if (why !== undefined) {
    tally.fact(`lost, not restorable: ${why}`);
    return;
  }
  tally.count(rows, "restorable");
  if (has(arrived)) {
    tally.count(rows, "put-back");
    return;
  }
  const now = placeBefore(sent.slots, run.start);
  const others = (seen: SeenThought): readonly Answer[] =>
    truth.owners(seen).flatMap(({ answer }) => (answer === run.answer ? [] : [answer]));
  const sentHere = new Set(slots.flatMap(({ thoughts }) => thoughts.map(({ json }) => json)));
  const twin = arrived.some(({ thoughts }) =>
    thoughts.some(
      (seen) =>
        !sentHere.has(seen.json) &&
        others(seen).some((other) => likenessOf(run.answer, other, sent.slots, run.start) !== undefined),
    ),
  );
  if (twin) {
    tally.count(rows, "twins");
    return;
  }
  tally.count(rows, "missing");
  const facts = factsOf(run, exchange, now, healed);
  const detail = (): string =>
    [
      facts,
      `at slots ${run.start}–${run.end - 1}: ${slots.map(({ json }) => json.slice(0, 140)).join(" ")}`,
      `issued: ${JSON.stringify(thought.raw).slice(0, 160)} in request ${run.answer.request}`,
      `arrived there: ${arrived.flatMap(({ thoughts }) => thoughts.map(({ json }) => json.slice(0, 120))).join(" ") || "nothing"}`,
      `told: ${exchange.got.told ?? "nothing"}`,
    ].join("\n");
  tally.fail(failureOf(exchange, `missing (${facts})`, detail));
}

/** Why a thought cannot come back, or should not. */
function whyNot({ answer, intact, start, end }: Run, exchange: Exchange): string | undefined {
  const { model, account, freshKey, sent, dialect, conversation } = exchange;
  if (!answer.completed) return "cut";
  if (!intact) return "changed by the client";
  if (exchange.thinkingOff) return "thinking is off";
  if (answer.account !== account) return "another account";
  if (answer.model !== model.id) return "another model";
  if (freshKey && conversation.tags.has("key-rotated")) return "a key not seen before";
  // The emulator demands the call by its id, or the item by its own.
  const renamed = exchange.mutations.includes("rename-calls") && answer.calls.length > 0;
  if (renamed && model.callProves === true && !keepsIds(sent.slots.slice(start, end), dialect.name))
    return "calls renamed";
  return undefined;
}

/** Prefix-bound models: what stood before the thought when it was made must stand there now. */
function whyNotBound(
  { answer, start }: Run,
  { model, sent, dialect }: Exchange,
  final: Arrival,
): string | undefined {
  if (model.bound !== true) return undefined;
  if (exactBefore(sent, start) !== answer.exactPlace) return "prefix changed";
  if (dialect.name !== "anthropic-messages") return undefined;
  const at = final.alignment.toSent.indexOf(start);
  return thoughtBefore(final.reading, at) === answer.thoughtBefore ? undefined : "another thought before it";
}

function keepsIds(slots: readonly Slot[], dialect: string): boolean {
  return dialect === "openai-responses" && slots.every(({ json }) => json.includes('"id":'));
}

/** What a proxy had to go by: the tiers of recognition, seen from outside. */
function factsOf(run: Run, { sent, mutations }: Exchange, now: string, healed: boolean): string {
  const slots = sent.slots.slice(run.start, run.end);
  const weight = slots.reduce(
    (sum, { mark }) => sum + mark.replaceAll(/^(?:said|call \S+) /gm, "").length,
    0,
  );
  const renamed = mutations.includes("rename-calls");
  const calls = run.answer.calls.length > 0;
  return [
    now === run.answer.place ? "same place" : "other place",
    weight < 40 ? "light" : weight < 60 ? "middle" : "heavy",
    calls ? (renamed ? "renamed calls" : "call ids") : "text",
    ...(healed ? ["healed"] : []),
  ].join(", ");
}
