/**
 * A request as a table: item → sent as → why, in the order of the request, and what was not sent. Made of the decisions
 * for that request and the events they are about. Pure.
 */

import type { Decision } from "../../../access/client/index.ts";
import type { LoggedEvent, Settings } from "../../../base/events/index.ts";
import type { RequestFacts } from "../../../runtime/facts/index.ts";
import { type BlockIndex, eventAt } from "./event-index.ts";
import { counted } from "./figures.ts";
import { callKey, itemWords } from "./item-words.ts";
import { sealedBytes } from "./sealed.ts";
import { resultName, sentAs, wireName } from "./sent-as.ts";
import { whySent } from "./why-sent.ts";
import { whyWords } from "./why-words.ts";

export interface RequestRow {
  readonly key: string;
  readonly sentAs: string;
  readonly why: string;
  readonly sent: boolean;
  /** True if it is not sent because all before a summary, or all of another branch, is not. */
  readonly wholesale?: boolean | undefined;
  /** Compared with the earlier request. */
  readonly change?: "new" | "gone" | undefined;
  readonly block?: string | undefined;
  /** What it is called. Asked for only if the row is drawn: a long session has thousands. */
  readonly words: () => RowWords;
}

export interface RowWords {
  readonly label: string;
  /** A second, smaller line: first words, parts, attempt. */
  readonly more?: string | undefined;
  /** True for a result, which belongs to a call above. */
  readonly nested: boolean;
  /** The name on the wire. */
  readonly wire?: string | undefined;
  /** The bytes of its payload that only its maker can read. */
  readonly sealed?: number | undefined;
}

/** What is known of one request. */
export interface RequestContent {
  readonly decisions: readonly Decision[];
  readonly settings: Settings | undefined;
}

export interface RowsInput extends RequestContent {
  readonly events: readonly LoggedEvent[];
  readonly requests: readonly RequestFacts[];
  readonly blocks: BlockIndex;
  /** The request to compare with. */
  readonly earlier?: RequestContent | undefined;
}

export function requestRows(input: RowsInput): readonly RequestRow[] {
  const rows = new Rows(input);
  const items = inRequestOrder(input);
  return [
    ...fieldRows(input.settings, input.earlier?.settings),
    ...withThoughtsJoined(items).flatMap((item) => rows.of(item)),
  ];
}

/** "3 new, 0 gone". */
export function changeWords(rows: readonly RequestRow[]): string {
  const count = (change: RequestRow["change"]): number => rows.filter((row) => row.change === change).length;
  return `${count("new")} new, ${count("gone")} gone`;
}

interface Item {
  readonly decision: Decision;
  readonly events: readonly LoggedEvent[];
  readonly place: readonly [group: number, part: number, index: number];
}

/** A response is sent as a whole: its items in the order of its output, then the results of its calls. */
function inRequestOrder({ decisions, events, requests }: RowsInput): readonly Item[] {
  const starts = new Map(requests.map(({ start }) => [start.response, start.seq]));
  return decisions
    .flatMap((decision): readonly Item[] => {
      const event = eventAt(events, decision.seq);
      if (event === undefined) return [];
      const group = (event.response === undefined ? undefined : starts.get(event.response)) ?? event.seq;
      const place =
        "outputIndex" in event ? ([group, 0, event.outputIndex] as const) : ([group, 1, event.seq] as const);
      return [{ decision, events: [event], place }];
    })
    .toSorted(({ place: a }, { place: b }) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]);
}

/** Thoughts that follow one another in a response are one block, and one row. */
function withThoughtsJoined(items: readonly Item[]): readonly Item[] {
  const joined: Item[] = [];
  for (const item of items) {
    const last = joined.at(-1);
    const follows =
      last !== undefined &&
      item.decision.type === "reasoning" &&
      last.decision.type === "reasoning" &&
      last.place[0] === item.place[0] &&
      last.decision.action === item.decision.action &&
      last.decision.reason === item.decision.reason;
    if (follows) joined[joined.length - 1] = { ...last, events: [...last.events, ...item.events] };
    else joined.push(item);
  }
  return joined;
}

/** The fields before the conversation. */
function fieldRows(settings: Settings | undefined, before: Settings | undefined): readonly RequestRow[] {
  if (settings === undefined) return [];
  const changed = (of: (one: Settings) => unknown): "new" | undefined =>
    before !== undefined && JSON.stringify(of(before)) !== JSON.stringify(of(settings)) ? "new" : undefined;
  const rows: RequestRow[] = [];
  if ((settings.system ?? "") !== "" || settings.serverInstructions !== undefined)
    rows.push({
      key: "instructions",
      sent: true,
      words: () => ({ label: "Instructions", nested: false }),
      sentAs: "instructions",
      why: "always first",
      change: changed(({ system, serverInstructions }) => [system, serverInstructions]),
    });
  const tools = settings.tools.length + settings.hosted.length;
  if (tools > 0)
    rows.push({
      key: "tools",
      sent: true,
      words: () => ({ label: "Tools", more: counted(tools, "tool"), nested: false }),
      sentAs: "definitions",
      why: "in every request",
      change: changed(({ tools: own, hosted }) => [own, hosted]),
    });
  return rows;
}

class Rows {
  readonly #input: RowsInput;
  readonly #before: ReadonlyMap<number, Decision>;
  readonly #dialect: Settings["profile"]["dialect"];
  readonly #facts: ReadonlyMap<string, RequestFacts>;
  /** The calls whose result is sent. */
  readonly #answered = new Set<string>();
  /** The responses of which a thought is sent. */
  readonly #thoughtful = new Set<string>();
  #callAbove: string | undefined;

  constructor(input: RowsInput) {
    this.#input = input;
    const { earlier, decisions, events, settings, requests } = input;
    this.#before = new Map((earlier?.decisions ?? []).map((one) => [one.seq, one]));
    this.#dialect = settings?.profile.dialect ?? "openai-responses";
    this.#facts = new Map(requests.map((one) => [one.start.response, one]));
    for (const { seq, action } of decisions) {
      const event = action === "omit" ? undefined : eventAt(events, seq);
      if (event?.response === undefined) continue;
      if (event.type === "reasoning") this.#thoughtful.add(event.response);
      else if (event.type === "tool_result") this.#answered.add(callKey(event));
      else if ("answers" in event && event.answers !== undefined)
        this.#answered.add(callKey({ response: event.response, callId: event.answers }));
    }
  }

  of({ decision, events }: Item): readonly RequestRow[] {
    const [event] = events;
    if (event === undefined) return [];
    const { earlier, blocks } = this.#input;
    const before = this.#before.get(decision.seq);
    const wasSent = before !== undefined && before.action !== "omit";
    const sent = decision.action !== "omit";
    const otherForm = sent && wasSent && before.action !== decision.action;
    const facts = this.#facts.get(event.response ?? "");
    const block = blocks.ofEvent(event);
    const callAbove = this.#callAbove;
    this.#callAbove = event.type === "tool_call" ? callKey(event) : undefined;
    const row: RequestRow = {
      key: String(decision.seq),
      words: () => ({
        ...itemWords(events, { facts, callAbove }),
        wire: wireName(event, decision, this.#dialect),
        sealed: decision.action === "replay" ? sealOf(events, facts) : undefined,
      }),
      sentAs: sentAs(decision),
      why: sent
        ? whySent(decision, event, { facts, thoughtful: this.#thoughtful.has(event.response ?? "") })
        : whyWords(decision, blocks.block(block), this.#input.settings?.target),
      sent,
      wholesale: !sent && (decision.reason === "compacted" || decision.reason === "left_branch"),
      change: earlier === undefined || sent === (wasSent && !otherForm) ? undefined : sent ? "new" : "gone",
      block,
    };
    if (!otherForm) return [row, ...this.#madeUp(decision, event)];
    const gone = {
      ...row,
      key: `${row.key}-`,
      sentAs: sentAs(before),
      why: "sent in another form now",
      sent: false,
      change: "gone",
    } as const;
    return [gone, row, ...this.#madeUp(decision, event)];
  }

  /** A call that never got a result is sent with one that says so. */
  #madeUp(decision: Decision, event: LoggedEvent): readonly RequestRow[] {
    if (event.type !== "tool_call" || decision.action === "omit") return [];
    if (this.#answered.has(callKey(event))) return [];
    const wasSent = (this.#before.get(decision.seq)?.action ?? "omit") !== "omit";
    return [
      {
        key: `${decision.seq}+`,
        words: () => ({ label: "Result, none", nested: true, wire: resultName(this.#dialect) }),
        sentAs: "call output",
        why: "says that the call has no result",
        sent: true,
        change: this.#input.earlier === undefined || wasSent ? undefined : "new",
        block: this.#input.blocks.ofEvent(event),
      },
    ];
  }
}

/** Some providers deliver the payload only with the end of the response. */
function sealOf(events: readonly LoggedEvent[], facts: RequestFacts | undefined): number | undefined {
  let sum = 0;
  for (const event of events) {
    if (event.type !== "reasoning") return undefined;
    const late = facts?.end?.late?.find(({ outputIndex }) => outputIndex === event.outputIndex);
    sum += sealedBytes((late ?? event).item);
  }
  return sum === 0 ? undefined : sum;
}
