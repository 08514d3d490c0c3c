/** Runs simulated traffic through the real reading and matching, and judges every match. */

import { hash } from "node:crypto";

import { type Group, GroupIndex } from "../../../src/proxy/ledger/index.ts";
import {
  idMark,
  isUnmistakableId,
  type Mark,
  Reader,
  readIssued,
  readPieces,
} from "../../../src/proxy/marks/index.ts";
import { Matcher } from "../../../src/proxy/restore/index.ts";
import type { ItemDraft } from "../../../src/runtime/providers/index.ts";
import { readAnswer } from "../../../src/runtime/providers/index.ts";
import {
  type Answer,
  Chance,
  type Habits,
  newAnswer,
  newHabits,
  resultsOf,
  type Sent,
  sentBy,
  type Turn,
  userTurn,
} from "./world.ts";

export interface Tally {
  runs: number;
  right: number;
  twins: number;
  wrong: number;
  missed: number;
  tiers: Record<string, number>;
  wrongBy: Record<string, number>;
  missedBy: Record<string, number>;
  examples: string[];
}

export function newTally(): Tally {
  return {
    runs: 0,
    right: 0,
    twins: 0,
    wrong: 0,
    missed: 0,
    tiers: {},
    wrongBy: {},
    missedBy: {},
    examples: [],
  };
}

const mark: Mark = (text) => hash("sha1", text, "base64url").slice(0, 20);
const SCOPE = "scope";

interface Conversation {
  turns: readonly Turn[];
  readonly habits: Habits;
  readonly repeatingIds: boolean;
  readonly beforeProxy: boolean;
  readonly unique: boolean;
}

/** One account with many conversations at once, each of some requests. */
export function simulate(
  seed: number,
  conversations: number,
  requests: number,
  tally: Tally,
  uniqueOpenings: boolean,
): void {
  const chance = new Chance(seed);
  const index = new GroupIndex();
  const numbers = new Map<string, Answer>();
  const places = new Map<number, string>();
  const all: Conversation[] = [];
  let ids = 0;
  for (let count = 0; count < conversations; count += 1) {
    const habits = newHabits(chance);
    const repeatingIds = chance.is(0.5);
    const siblings = chance.is(0.33) ? 3 : 1;
    const first = userTurn(chance, uniqueOpenings);
    for (let sibling = 0; sibling < siblings; sibling += 1)
      all.push({
        turns: [uniqueOpenings && sibling > 0 ? userTurn(chance, true) : first],
        habits: sibling === 0 || chance.is(0.7) ? habits : newHabits(chance),
        repeatingIds,
        beforeProxy: chance.is(0.1),
        unique: uniqueOpenings,
      });
  }
  for (let step = 0; step < requests * all.length; step += 1) {
    const conversation = chance.one(all);
    const recordedNow = !(conversation.beforeProxy && conversation.turns.length < 6);
    const sent = sentBy(conversation.habits, conversation.turns, chance);
    const reader = Reader.from(mark);
    for (const [element, { value }] of sent.entries())
      for (const piece of readPieces("openai-chat", value, element)) reader.push(piece);
    const reading = reader.read();
    let parent: Group | undefined;
    if (recordedNow) {
      const matches = new Matcher(index, SCOPE, mark, { model: "m", hints: [] }).match(reading);
      judge(sent, reading, matches, numbers, places, tally, conversation, index);
      const last = matches.matched.at(-1);
      const stretch = reading.stretches.length - 1;
      if (
        last !== undefined &&
        last.stretch === stretch &&
        last.atom + last.count === reading.stretches[stretch]?.atoms.length
      )
        parent = last.group;
    }
    const cut = recordedNow && chance.is(0.03);
    const answer = newAnswer(
      chance,
      conversation.repeatingIds,
      conversation.turns.length,
      recordedNow && !cut,
    );
    ids += 1;
    const id = `g${String(ids).padStart(9, "0")}`;
    if (cut) index.apply({ type: "asked", id, at: ids, scope: SCOPE, keys: reading.end, parent: parent?.id });
    if (answer.recorded) {
      const group = groupFrom(answer, id, ids, reading.end, parent);
      index.apply(group);
      numbers.set(id, answer);
      places.set(answer.number, reading.end.loose);
    }
    advance(conversation, answer, chance);
  }
}

function groupFrom(
  answer: Answer,
  id: string,
  at: number,
  keys: Group["keys"],
  parent: Group | undefined,
): Group {
  const message = {
    role: "assistant",
    content: answer.text,
    reasoning_content: `thought ${answer.number}`,
    tool_calls: answer.calls.map((call) => ({
      id: call.id,
      type: "function",
      function: { name: call.name, arguments: JSON.stringify(call.args) },
    })),
  };
  const items: readonly ItemDraft[] = readAnswer("openai-chat", [JSON.stringify(message)]);
  const issued = readIssued("openai-chat", items, mark);
  if (issued === undefined) throw new Error("an answer without members");
  return {
    type: "group",
    id,
    at,
    scope: SCOPE,
    account: "a",
    dialect: "openai-chat",
    model: "m",
    keys,
    parent: parent?.id,
    members: issued.members,
    openings: issued.openings,
    thoughts: issued.thoughts.map(({ raw: _raw, ...known }) => known),
    ids: issued.ids.filter(isUnmistakableId).map((one) => idMark(mark, one)),
    thinking: "on",
    stored: false,
    hints: [],
  };
}

function judge(
  sent: readonly Sent[],
  reading: ReturnType<Reader["read"]>,
  matches: ReturnType<Matcher["match"]>,
  numbers: ReadonlyMap<string, Answer>,
  places: ReadonlyMap<number, string>,
  tally: Tally,
  { habits }: Conversation,
  index: GroupIndex,
): void {
  const found = new Map<
    Answer,
    { readonly group: Group; readonly tier: string; readonly place: string; readonly keys: unknown }
  >();
  const wrongs = new Set<Answer>();
  for (const match of matches.matched) {
    const { atoms } = reading.stretches[match.stretch] as (typeof reading.stretches)[number];
    const own = atoms.slice(match.atom, match.atom + match.count);
    const truths = new Set(own.map(({ piece }) => sent[piece.at.element]?.answer));
    const [truth] = truths;
    if (truth === undefined) continue;
    if (truths.size > 1) wrongs.add(truth);
    found.set(truth, {
      group: match.group,
      tier: match.tier,
      place: atoms[match.atom]?.keys.place ?? "",
      keys: atoms[match.atom]?.keys,
    });
  }
  for (const truth of new Set(sent.flatMap(({ answer }) => answer ?? []))) {
    const match = found.get(truth);
    if (!truth.recorded && match === undefined) continue;
    tally.runs += 1;
    if (match === undefined) {
      tally.missed += 1;
      add(
        tally.missedBy,
        `${habits.reminder}${habits.compacts ? " compacts" : ""}${habits.clearsAfter < 9 ? " clears" : ""}${habits.renamesIds === "no" ? "" : " renames"}`,
      );
      continue;
    }
    add(tally.tiers, match.tier);
    const given = numbers.get(match.group.id);
    if (given?.number === truth.number && !wrongs.has(truth)) tally.right += 1;
    else if (
      given !== undefined &&
      (match.group.keys.place === match.place || places.get(truth.number) === match.group.keys.loose) &&
      !wrongs.has(truth)
    )
      tally.twins += 1;
    else {
      tally.wrong += 1;
      add(tally.wrongBy, match.tier);
      const mine = [...numbers].find(([, one]) => one.number === truth.number)?.[0] ?? "";
      const real = index.group(mine);
      if (tally.examples.length < 8)
        tally.examples.push(
          `mine ${mine} parent ${real?.parent} got ${match.group.id} parent ${match.group.parent} keys mine ${JSON.stringify(real?.keys)} got ${JSON.stringify(match.group.keys)} now ${JSON.stringify(match.keys)} `,
          `${match.tier}: ${JSON.stringify(truth)} got ${JSON.stringify(given)} habits ${JSON.stringify(habits)} places ${places.get(truth.number) ?? ""}`,
        );
    }
  }
}

function add(into: Record<string, number>, key: string): void {
  into[key] = (into[key] ?? 0) + 1;
}

/** What the person and the client do next. */
function advance(conversation: Conversation, answer: Answer, chance: Chance): void {
  const { turns } = conversation;
  if (chance.is(0.04)) return; // regenerated: the answer is thrown away
  const grown: readonly Turn[] = [...turns, { is: "answer", answer }, ...resultsOf(answer, chance)];
  const next = answer.calls.length === 0 ? [...grown, userTurn(chance, false)] : grown;
  conversation.turns = next;
  if (chance.is(0.05)) {
    const users = next.flatMap(({ is }, index) => (is === "user" && index > 0 ? [index] : []));
    if (users.length > 0) conversation.turns = [...next.slice(0, chance.one(users)), userTurn(chance, false)];
  }
  if (conversation.turns.length > 60) conversation.turns = conversation.turns.slice(0, 1);
}
