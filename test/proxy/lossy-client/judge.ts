/**
 * The judge: compares each request as it arrived with what the client sent and with the truth. Every thought that
 * arrived is one the client itself sent there, or exactly the thought that was issued with that very answer.
 *
 * @module
 */

import { objectOf, tryParseJson } from "../../../src/base/support/index.ts";
import type { RecordedExchange } from "../../../src/emulator/index.ts";
import { align } from "./align.ts";
import { type Arrival, type Exchange, failureOf } from "./exchange.ts";
import { countLosses, isHopeless } from "./losses-counted.ts";
import { PrefixWatch } from "./prefix-watch.ts";
import type { Tally } from "./tally.ts";
import type { TargetName } from "./targets.ts";
import type { Answer, Reading, SeenThought, Thought, Truth } from "./truth.ts";
import { likenessOf } from "./twins.ts";

/** Refusals that name something other than the history. */
const NOT_HISTORY =
  /^X-(?:model|key|key-missing|version|large|route|fault|scenario|internal|context|max-tokens|effort|thinking|sampling|budget|cache|tools?|format|n|stream-options|tool-choice|json)$/;

export class Judge {
  readonly #truth: Truth;
  readonly #tally: Tally;
  readonly #target: TargetName;
  readonly #unique: boolean;
  readonly #prefixes: PrefixWatch;
  readonly #repeats = new Map<string, string>();
  #anyHealed = false;

  constructor(
    truth: Truth,
    options: { readonly tally: Tally; readonly target: TargetName; readonly unique: boolean },
  ) {
    this.#truth = truth;
    this.#tally = options.tally;
    this.#target = options.target;
    this.#unique = options.unique;
    this.#prefixes = new PrefixWatch(options.tally);
  }

  judge(exchange: Exchange): void {
    const { dialect, sent, attempts, conversation, got } = exchange;
    const rows = rowsOf(exchange);
    this.#tally.count(rows, "requests");
    const last = attempts.at(-1);
    if (last === undefined) {
      this.#fail(exchange, "never arrived", () => `status ${got.status}: ${got.text.slice(0, 300)}`);
      return;
    }
    const arrivals = attempts.map((entry): Arrival => {
      const reading = dialect.read(objectOf(tryParseJson(entry.requestText)));
      return { entry, reading, alignment: align(sent.slots, reading.slots) };
    });
    const healedBefore = this.#unique ? conversation.healed : this.#anyHealed;
    for (const [index, arrival] of arrivals.entries()) {
      this.#checkThoughts(exchange, arrival, index > 0 || healedBefore);
      if (index === 0 && !healedBefore) this.#checkVerbatim(exchange, arrival);
    }
    if (attempts.length > 1) {
      this.#tally.count(rows, "healed");
      this.#tally.fact("attempts after the first", attempts.length - 1);
      conversation.healed = true;
      this.#anyHealed = true;
    }
    this.#checkAnswer(exchange, last, rows);
    const final = arrivals.at(-1);
    if (last.report?.verdict !== "accepted" || final === undefined) return;
    this.#checkRepeat(exchange, last);
    countLosses({
      exchange,
      final,
      truth: this.#truth,
      tally: this.#tally,
      rows,
      healed: attempts.length > 1,
    });
    if (!this.#prefixes.check(exchange, final, healedBefore || attempts.length > 1))
      this.#tally.count(rows, "unstable");
  }

  /** The model told a number: it must come from a thought of this very branch. */
  number(exchange: Exchange, number: number): void {
    this.#tally.fact("numbers told");
    const mine = exchange.history.some((entry) => entry.kind === "answer" && entry.answer.number === number);
    if (mine) return;
    const owner = this.#truth.answers.find((one) => one.number === number && !one.recalls);
    if (owner === undefined) this.#tally.fact("numbers of unknown origin");
    else if (exchange.history.some((one) => one.kind === "answer" && likenessOf(one.answer, owner, [], 0)))
      this.#tally.fact("numbers of a twin");
    else {
      const detail = (): string => `the number ${number} is of ${nameOf(owner)}`;
      this.#fail(exchange, "WRONG number told", detail);
    }
  }

  #checkThoughts(exchange: Exchange, arrival: Arrival, healed: boolean): void {
    const { sent } = exchange;
    const everySent = new Set(sent.slots.flatMap(({ thoughts }) => thoughts.map(({ json }) => json)));
    const seenHere = new Set<string>();
    for (const [at, slot] of arrival.reading.slots.entries()) {
      const index = arrival.alignment.toSent[at] ?? -1;
      const original = sent.slots[index];
      for (const seen of slot.thoughts) {
        const own = original?.thoughts.some((one) => this.#isMade(exchange, one, seen)) === true;
        const end = slot.kind === "end" && everySent.has(seen.json);
        if (own || end || (healed && everySent.has(seen.json))) continue;
        // A client that doubles an answer gets its thought twice, and a refusal for its own doing.
        const doubled =
          seenHere.has(seen.json) &&
          seen.payload !== undefined &&
          !exchange.mutations.includes("double-item");
        seenHere.add(seen.json);
        const wrong = doubled ? "doubled" : this.#whatIsWrong(exchange, seen, index);
        if (wrong === undefined) continue;
        if (wrong === "twin" || wrong === "near twin") {
          this.#tally.fact(`${wrong}s put there`);
          continue;
        }
        this.#tally.count(rowsOf(exchange), "wrong");
        const refused = arrival.entry.report?.verdict === "refused" ? " (attempt refused)" : "";
        this.#fail(exchange, `WRONG ${wrong}${refused}`, () => this.#explain(exchange, seen, index));
      }
    }
  }

  /** What the client sent there, as it was or made whole again. */
  #isMade({ dialect }: Exchange, sent: SeenThought, seen: SeenThought): boolean {
    if (sent.json === seen.json) return true;
    const related =
      (sent.payload !== undefined && sent.payload !== "" && sent.payload === seen.payload) ||
      (sent.id !== undefined && sent.id === seen.id) ||
      (sent.text !== "" && sent.text === seen.text);
    return related && this.#truth.owners(seen).some((owner) => dialect.same(owner, seen));
  }

  #whatIsWrong(exchange: Exchange, seen: SeenThought, index: number): string | undefined {
    const { dialect, sent, model, account } = exchange;
    const from = sent.slots[index]?.from;
    if (from === undefined) return "at no answer";
    const { answer, members } = from;
    const mine = answer.thoughts.find((thought) => dialect.same(thought, seen));
    if (mine !== undefined) {
      if (!answer.completed) return "of a cut answer";
      if (answer.account !== account) return "across accounts";
      if (answer.model !== model.id && !crosses(mine, exchange)) return "across models";
      if (dialect.name !== "openai-chat" && !members.includes(mine.follower)) {
        const follower = sent.slots.find(
          (slot) => slot.from?.answer === answer && slot.from.members.includes(mine.follower),
        );
        // Two calls that say the same cannot be told apart once a heal took their ids.
        if (follower?.mark !== sent.slots[index]?.mark) return "before another member";
      }
      if (exchange.thinkingOff) this.#tally.fact("put back while thinking is off");
      if (from.changed === true) return "at a partial answer";
      return undefined;
    }
    const owners = this.#truth.owners(seen);
    if (owners.length === 0)
      return seen.text === "" && seen.payload === undefined ? "invented" : "altered or invented";
    const first = sent.slots.findIndex((slot) => slot.from?.answer === answer);
    const likeness = owners
      .filter((owner) => owner.answer.model === model.id || crosses(owner, exchange))
      .map((owner) => likenessOf(answer, owner.answer, sent.slots, first))
      .find((one) => one !== undefined);
    if (likeness !== undefined) return likeness;
    const [{ answer: owner }] = owners as readonly [Thought];
    if (owner === answer) return "altered";
    if (owner.account !== account) return "of another account";
    if (owner.model !== model.id) return "of another model";
    return owner.conversation === answer.conversation ? "of another turn" : "of another conversation";
  }

  /** Before a refusal nothing visible changes, and never a parameter. */
  #checkVerbatim(exchange: Exchange, { reading, alignment, entry }: Arrival): void {
    const { sent, sentText } = exchange;
    if (!alignment.unchanged)
      this.#fail(exchange, "visible changed before a refusal", () => differences(sent, reading));
    for (const [at, slot] of reading.slots.entries()) {
      const before = sent.slots[alignment.toSent[at] ?? -1]?.thoughts ?? [];
      if (before.length <= slot.thoughts.length) continue;
      const detail = (): string => `${before.map(({ json }) => json.slice(0, 200)).join(" ")} at slot ${at}`;
      this.#fail(exchange, "thought taken away before a refusal", detail);
    }
    if (reading.head !== sent.head)
      this.#fail(exchange, "head changed before a refusal", () => `${sent.head}\n→ ${reading.head}`);
    const { told } = exchange.got;
    if (this.#target === "direct" || told === undefined || exchange.attempts.length > 1) return;
    const equal = entry.requestText === sentText;
    if (told === "passed" && !equal) this.#fail(exchange, "changed, but told as passed", () => told);
    if (told.startsWith("restored") && equal)
      this.#fail(exchange, "unchanged, but told as restored", () => told);
  }

  #checkAnswer(exchange: Exchange, last: RecordedExchange, rows: readonly string[]): void {
    const { got, fault } = exchange;
    if (got.cut) return;
    // After a ladder without success the client gets the first refusal.
    const told = got.status >= 400 ? (exchange.attempts[0] ?? last) : last;
    if (got.status !== told.status) {
      const detail = (): string =>
        `the client got ${got.status}, the emulator sent ${told.status}: ${got.text.slice(0, 200)}`;
      this.#fail(exchange, "status differs", detail);
    } else if (got.events === undefined && got.text !== told.responseText) {
      const detail = (): string => `${got.text.slice(0, 200)}\n→ ${told.responseText.slice(0, 200)}`;
      this.#fail(exchange, "answer differs", detail);
    } else if (got.events !== undefined && JSON.stringify(got.events) !== JSON.stringify(told.events)) {
      this.#fail(exchange, "stream differs", () => `${got.events?.length} of ${told.events.length} events`);
    }
    if (got.status < 400 || fault !== undefined) return;
    const rule = last.report?.rule ?? "none";
    const history = !NOT_HISTORY.test(rule) && !(rule.startsWith("V0") && isHopeless(exchange));
    this.#tally.count(rows, history ? "refused" : "refused-other");
    const detail = (): string =>
      exchange.attempts.map(({ report }) => `${report?.rule ?? ""}: ${report?.message ?? ""}`).join("\n");
    this.#fail(exchange, history ? `REFUSED ${rule}` : `refused for another reason ${rule}`, detail);
  }

  /** The same request gives the same bytes. */
  #checkRepeat(exchange: Exchange, last: RecordedExchange): void {
    if (exchange.attempts.length > 1) return;
    const { sentText, account, conversation } = exchange;
    const key = `${account} ${sentText}`;
    const before = this.#repeats.get(key);
    if (before !== undefined) {
      this.#tally.fact("requests repeated");
      if (before !== last.requestText && !conversation.healed)
        this.#fail(
          exchange,
          "repeated request differs",
          () => `${before.length} and ${last.requestText.length} characters`,
        );
    }
    this.#repeats.set(key, last.requestText);
    if (this.#repeats.size > 200) this.#repeats.delete(this.#repeats.keys().next().value ?? "");
  }

  #explain(exchange: Exchange, seen: SeenThought, index: number): string {
    const { sent } = exchange;
    const answer = sent.slots[index]?.from?.answer;
    const owners = this.#truth.owners(seen);
    return [
      `at sent slot ${index}: ${sent.slots[index]?.json.slice(0, 160) ?? "none"}`,
      `arrived: ${seen.json.slice(0, 200)}`,
      `issued there: ${answer?.thoughts.map(({ raw }) => JSON.stringify(raw).slice(0, 200)).join("\n  ") ?? "nothing"}`,
      `of: ${answer === undefined ? "no answer" : nameOf(answer)}`,
      `belongs to: ${owners.map((owner) => nameOf(owner.answer)).join(", ") || "nobody"}`,
      ...owners.map((owner) => (answer === undefined ? "" : howAlike(answer, owner.answer))),
    ].join("\n");
  }

  #fail(exchange: Exchange, kind: string, detail: () => string): void {
    this.#tally.fail(failureOf(exchange, kind, detail));
  }
}

export function rowsOf({ dialect, model, mutations, got }: Exchange): readonly string[] {
  return [
    "all",
    `dialect ${dialect.name}`,
    `model ${model.id}`,
    `how ${got.events === undefined ? "whole" : "stream"}`,
    ...(mutations.length === 0 ? ["with nothing"] : new Set(mutations.map((one) => `with ${one}`))),
  ];
}

function howAlike(one: Answer, other: Answer): string {
  const same = (name: "says" | "place" | "model" | "account"): string =>
    `${one[name] === other[name] ? "same" : "other"} ${name}`;
  return [same("says"), same("place"), same("model"), same("account")].join(", ");
}

/** Readable thoughts are bound to nobody by cryptography: they may go from model to model of one vendor. */
function crosses(thought: Thought, { dialect, model }: Exchange): boolean {
  const maker = dialect.models.find(({ id }) => id === thought.answer.model);
  return thought.payloads.length === 0 && model.vendor !== undefined && maker?.vendor === model.vendor;
}

function nameOf({ id, conversation, request, model, account }: Answer): string {
  return `answer ${id} (conversation ${conversation}, request ${request}, ${model}, ${account})`;
}

export function differences(sent: Reading, arrived: Reading): string {
  const lines: string[] = [];
  const before = new Set(sent.slots.map(({ json }) => json));
  const after = new Set(arrived.slots.map(({ json }) => json));
  for (const json of before) if (!after.has(json)) lines.push(`- ${json.slice(0, 240)}`);
  for (const json of after) if (!before.has(json)) lines.push(`+ ${json.slice(0, 240)}`);
  return lines.slice(0, 8).join("\n");
}
