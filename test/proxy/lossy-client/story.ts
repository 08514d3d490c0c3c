/** What became of every answer in a request whose thoughts did not arrive: request by request, since it was issued. */

import { objectOf, tryParseJson } from "../../../src/base/support/index.ts";
import { align } from "./align.ts";
import type { Exchange } from "./exchange.ts";
import type { Answer } from "./truth.ts";

interface Seen {
  sent: number;
  arrived: number;
  readonly json: string;
}

export class Story {
  readonly #lines = new Map<Answer, string[]>();
  readonly #ends: number;
  readonly #say: (text: string) => void;

  /** Tells the story at the end of the given request. */
  constructor(request: number, say: (text: string) => void) {
    this.#ends = request;
    this.#say = say;
  }

  add(exchange: Exchange): void {
    if (exchange.request > this.#ends) return;
    const answers = answersIn(exchange);
    for (const [answer, seen] of answers) {
      const lines = this.#lines.get(answer) ?? [];
      lines.push(lineOf(exchange, answer, seen));
      this.#lines.set(answer, lines);
    }
    if (exchange.request !== this.#ends) return;
    this.#say(`request ${this.#ends}, ${exchange.model.id}: ${exchange.mutations.join(" ")}`);
    for (const [answer, { arrived, json }] of answers) {
      if (arrived >= answer.thoughts.length) continue;
      this.#say(`answer ${answer.id} of request ${answer.request}: ${json.slice(0, 160)}`);
      for (const line of this.#lines.get(answer) ?? []) this.#say(`  ${line}`);
    }
  }
}

function answersIn({ dialect, sent, attempts }: Exchange): ReadonlyMap<Answer, Seen> {
  const answers = new Map<Answer, Seen>();
  const { slots } = dialect.read(objectOf(tryParseJson(attempts.at(-1)?.requestText ?? "")));
  const { toSent } = align(sent.slots, slots);
  const count = (answer: Answer, slot: (typeof slots)[number]): number =>
    slot.thoughts.filter((seen) => answer.thoughts.some((thought) => dialect.same(thought, seen))).length;
  for (const slot of sent.slots) {
    const answer = slot.from?.answer;
    if (answer === undefined) continue;
    const known = answers.get(answer) ?? { sent: 0, arrived: 0, json: slot.json };
    known.sent += count(answer, slot);
    answers.set(answer, known);
  }
  for (const [at, slot] of slots.entries()) {
    const answer = sent.slots[toSent[at] ?? -1]?.from?.answer;
    const known = answer === undefined ? undefined : answers.get(answer);
    if (answer !== undefined && known !== undefined) known.arrived += count(answer, slot);
  }
  return answers;
}

function lineOf(exchange: Exchange, answer: Answer, { sent, arrived }: Seen): string {
  const { request, model, account, thinkingOff, attempts, got, mutations } = exchange;
  const notes = [
    ...(model.id === answer.model ? [] : [model.id]),
    ...(account === answer.account ? [] : ["another account"]),
    ...(thinkingOff ? ["thinking off"] : []),
    ...mutations.filter((one) => /^(?:orphan|double|foreign|trailing)/.test(one)),
  ];
  const how = attempts.map(({ report }) => report?.rule ?? "accepted").join(", ");
  return `request ${request}: ${sent} of ${answer.thoughts.length} sent, ${arrived} arrived; ${how}; told ${got.told ?? "nothing"}; ${notes.join(", ")}`;
}
