/**
 * The habits of a client: what it does to every request of a conversation, and what it does only now and then. A habit
 * that writes the same thing differently is steady; a habit that loses or adds something may differ each time.
 *
 * @module
 */

import type { Random } from "../../chaos/random.ts";
import type { Draft } from "./dialect.ts";
import {
  dropItemIds,
  mergeMessages,
  moveCacheMark,
  otherContent,
  renameCalls,
  rewriteArguments,
  splitMessages,
} from "./forms.ts";
import { type Edit, editThoughts, type ThoughtInfo } from "./losses.ts";
import { addClockLine, addReminder, addSystemClock, clearOutputs } from "./surroundings.ts";
import type { DialectName } from "./truth.ts";

interface HabitContext {
  readonly dialect: DialectName;
  /** Differs with every request. */
  readonly random: Random;
  /** Grows with every request. */
  readonly clock: number;
}

export interface Habit {
  readonly name: string;
  readonly only?: DialectName;
  /** How often a conversation has it. */
  readonly weight: number;
  apply(draft: Draft, context: HabitContext): Draft;
}

function loses(name: string, weight: number, decide: (info: ThoughtInfo, random: Random) => Edit): Habit {
  return {
    name,
    weight,
    apply: (draft, { dialect, random }) => editThoughts(dialect, draft, (info) => decide(info, random)),
  };
}

/** At most one of these at a time. */
export const LOSSES: readonly Habit[] = [
  loses("drop-thoughts", 6, () => "drop"),
  loses("drop-some", 3, (_, random) => (random.chance(0.5) ? "drop" : "keep")),
  loses("drop-old", 2, ({ latest }) => (latest ? "keep" : "drop")),
  loses("drop-latest", 2, ({ latest }) => (latest ? "drop" : "keep")),
  loses("strip-payload", 3, () => "payload"),
  loses("strip-some", 1, (_, random) => (random.chance(0.5) ? "payload" : "keep")),
  loses("empty-text", 3, () => "text"),
  loses("mixed-losses", 2, (_, random) => random.pick(["keep", "drop", "payload", "text"] as const)),
];

/** Applied in this order. */
export const FORMS: readonly Habit[] = [
  {
    name: "reminder-last",
    weight: 2,
    apply: (draft, { clock }) => addReminder(draft, "last", clock),
  },
  { name: "reminder-all", weight: 1, apply: (draft, { clock }) => addReminder(draft, "all", clock) },
  { name: "clock-last", weight: 2, apply: (draft, { clock }) => addClockLine(draft, "last", clock) },
  { name: "clock-all", weight: 1, apply: (draft, { clock }) => addClockLine(draft, "all", clock) },
  { name: "system-clock", weight: 1, apply: (draft, { clock }) => addSystemClock(draft, clock) },
  { name: "clear-outputs", weight: 2, apply: (draft, { dialect }) => clearOutputs(dialect, draft, 6) },
  { name: "rename-calls", weight: 2, apply: (draft, { dialect }) => renameCalls(dialect, draft) },
  { name: "rewrite-arguments", weight: 3, apply: (draft, { dialect }) => rewriteArguments(dialect, draft) },
  { name: "split-messages", weight: 2, apply: (draft, { dialect }) => splitMessages(dialect, draft) },
  { name: "merge-messages", only: "anthropic-messages", weight: 2, apply: (draft) => mergeMessages(draft) },
  { name: "other-content", weight: 2, apply: (draft, { dialect }) => otherContent(dialect, draft) },
  {
    name: "drop-item-ids",
    only: "openai-responses",
    weight: 3,
    apply: (draft) => dropItemIds(draft, true),
  },
  {
    name: "drop-visible-ids",
    only: "openai-responses",
    weight: 2,
    apply: (draft) => dropItemIds(draft, false),
  },
  { name: "cache-mark", only: "anthropic-messages", weight: 2, apply: (draft) => moveCacheMark(draft) },
];

/** The habits of a conversation. A quarter of the clients keep every thought. */
export function chooseHabits(random: Random, dialect: DialectName): readonly Habit[] {
  const loss = random.chance(0.75) ? [weighted(random, LOSSES)] : [];
  const count = random.weighted({ "0": 3, "1": 4, "2": 3, "3": 1 });
  const fitting = FORMS.filter(({ only }) => only === undefined || only === dialect);
  const chosen = new Set(Array.from({ length: Number(count) }, () => weighted(random, fitting)));
  return [...loss, ...FORMS.filter((one) => chosen.has(one))];
}

/** Now and then a request loses something that others do not. */
export function chooseSlip(random: Random): readonly Habit[] {
  return random.chance(0.08) ? [weighted(random, LOSSES)] : [];
}

function weighted(random: Random, habits: readonly Habit[]): Habit {
  const name = random.weighted(Object.fromEntries(habits.map((one) => [one.name, one.weight])));
  return habits.find((one) => one.name === name) as Habit;
}
