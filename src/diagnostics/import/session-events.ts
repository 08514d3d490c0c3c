/**
 * Entries of a history → the events of a session. Every answer is a group with its origin and without hashes, because
 * Throughline sent no request for it. Every call has exactly one result, every turn exactly one end, and the first entry is
 * a message, whatever the file lacks; so the session can continue on every dialect.
 */

import { createHash } from "node:crypto";

import { type Dialect, type InputPart, NO_USAGE, type Origin } from "../../base/events/index.ts";
import { type IdSource, objectOf, stringOf, tryParseJson } from "../../base/support/index.ts";
import type { AppendDraft } from "../../runtime/log/index.ts";
import { type ItemDraft, readAnswer } from "../../runtime/providers/index.ts";
import type { AnswerEntry, HistoryEntry, ResultEntry, UserEntry } from "../check/index.ts";

export interface SessionEvents {
  readonly drafts: readonly AppendDraft[];
  readonly blobs: ReadonlyMap<string, Uint8Array>;
  readonly counts: EventCounts;
  /** The first message of a person. */
  readonly firstMessage: readonly InputPart[];
}

export interface EventCounts {
  readonly messages: number;
  readonly responses: number;
  readonly thoughts: number;
  /** Calls whose result the history does not have. */
  readonly openCalls: number;
  /** Results whose call the history does not have. They are left out. */
  readonly lostResults: number;
}

/** The model reads this instead of the result that the history does not have. */
const NO_RESULT =
  "outcome unknown: the history that this session was imported from does not have the result of this call. It may or may not have taken effect; check before running it again";
/** Stands for what came before the first entry of a history that begins with an answer. */
const NO_FRONT = "(What was said before this is not in the imported history.)";

/** Larger data goes into a blob, as that of a message does. */
const INLINE_BYTES = 64 * 1024;

export function sessionEvents(
  entries: readonly HistoryEntry[],
  options: SessionEventsOptions,
): SessionEvents {
  return new EventWriter(entries, options).write();
}

export interface SessionEventsOptions {
  readonly ids: IdSource;
  readonly originOf: (answer: AnswerEntry) => Origin;
  /** The time of what the file gives no time for, ISO 8601. */
  readonly now: string;
  /** How many events come before these. */
  readonly firstSeq: number;
}

interface Call {
  readonly entry: AnswerEntry;
  readonly rawId: string;
  readonly callId: string;
  result?: ResultEntry;
}

interface Answer {
  readonly items: readonly ItemDraft[];
  readonly calls: readonly Call[];
}

interface OpenTurn {
  readonly id: string;
  step: number;
  /** It ends with an answer. */
  whole: boolean;
  at: string | undefined;
}

class EventWriter {
  readonly #entries: readonly HistoryEntry[];
  readonly #options: SessionEventsOptions;
  readonly #drafts: AppendDraft[] = [];
  readonly #blobs = new Map<string, Uint8Array>();
  /** Where the events of an entry begin, counted among the drafts. */
  readonly #starts: number[] = [];
  #turn: OpenTurn | undefined;
  #firstMessage: readonly InputPart[] | undefined;
  readonly #counts = { messages: 0, responses: 0, thoughts: 0, openCalls: 0, lostResults: 0 };

  constructor(entries: readonly HistoryEntry[], options: SessionEventsOptions) {
    this.#entries = entries;
    this.#options = options;
  }

  write(): SessionEvents {
    const answers = this.#matched();
    for (const [index, entry] of this.#entries.entries()) {
      this.#starts.push(this.#drafts.length);
      if (entry.kind === "user") this.#message(entry, index);
      else if (entry.kind === "answer") this.#answer(entry, answers.get(entry) as Answer, index);
      else if (entry.kind === "cut") this.#cut(entry.before, entry.summary, entry.at);
    }
    this.#endTurn();
    return {
      drafts: this.#drafts,
      blobs: this.#blobs,
      counts: this.#counts,
      firstMessage: this.#firstMessage ?? [],
    };
  }

  /** Gives each result to the nearest call before it that has none, or else to the first one after it. */
  #matched(): ReadonlyMap<AnswerEntry, Answer> {
    const answers = new Map<AnswerEntry, Answer>();
    const open = new Map<string, Call[]>();
    const early = new Map<string, ResultEntry[]>();
    for (const entry of this.#entries) {
      if (entry.kind === "answer") {
        const answer = answerOf(entry);
        answers.set(entry, answer);
        for (const call of answer.calls) {
          const result = early.get(call.rawId)?.shift();
          if (result === undefined) listOf(open, call.rawId).push(call);
          else call.result = result;
        }
      } else if (entry.kind === "result") {
        const call = takeCall(open.get(entry.callId) ?? []);
        if (call === undefined) listOf(early, entry.callId).push(entry);
        else call.result = entry;
      }
    }
    this.#counts.lostResults = [...early.values()].reduce((sum, { length }) => sum + length, 0);
    return answers;
  }

  #message(entry: UserEntry, index: number): void {
    const open = entry.by === "person" ? undefined : this.#turn;
    const turn = open ?? this.#beginTurn(entry.at);
    turn.whole = false;
    this.#starts[index] = this.#drafts.length;
    const content = entry.parts.map((part) => this.#part(part));
    if (entry.by === "person") this.#firstMessage ??= content;
    this.#counts.messages += 1;
    this.#push({ type: "user_message", turn: turn.id, by: entry.by, content }, entry.at);
  }

  #part(part: InputPart): InputPart {
    if (!("data" in part) || part.data.length <= INLINE_BYTES) return part;
    const { data, ...rest } = part;
    return { ...rest, blob: this.#blob(Buffer.from(data, "base64")) };
  }

  #blob(bytes: Uint8Array): string {
    const name = createHash("sha256").update(bytes).digest("hex");
    this.#blobs.set(name, bytes);
    return name;
  }

  #beginTurn(at: string | undefined): OpenTurn {
    this.#endTurn();
    const turn = { id: this.#options.ids.next("tn"), step: 0, whole: false, at };
    this.#turn = turn;
    return turn;
  }

  #turnWithoutFront(at: string | undefined): OpenTurn {
    const turn = this.#beginTurn(at);
    const content = [{ type: "text", text: NO_FRONT }] as const;
    this.#push({ type: "user_message", turn: turn.id, by: "runtime", content }, at);
    return turn;
  }

  #endTurn(): void {
    const turn = this.#turn;
    this.#turn = undefined;
    if (turn === undefined) return;
    const status = turn.whole ? "completed" : "interrupted";
    const { id, step: steps, at } = turn;
    this.#push({ type: "turn_end", turn: id, status, steps, usage: NO_USAGE, durationMs: 0 }, at);
  }

  #answer(entry: AnswerEntry, { items, calls }: Answer, index: number): void {
    const turn = this.#turn ?? this.#turnWithoutFront(entry.at);
    this.#starts[index] = this.#drafts.length;
    turn.step += 1;
    turn.at = entry.at ?? turn.at;
    const inResponse = { turn: turn.id, response: this.#options.ids.next("rsp") };
    const { status = "completed", at } = entry;
    const origin = this.#options.originOf(entry);
    this.#push(
      {
        ...inResponse,
        type: "response_start",
        step: turn.step,
        attempt: 1,
        origin,
        bodyHash: "",
        prefixHash: "",
      },
      at,
    );
    for (const item of items)
      this.#push(
        item.type === "reasoning"
          ? { ...item, ...inResponse, startedAt: at ?? this.#options.now, durationMs: 0 }
          : { ...item, ...inResponse },
        at,
      );
    const error = entry.error === undefined ? {} : { error: { code: "imported", message: entry.error } };
    const reason = status === "incomplete" ? { reason: "max_output_tokens" } : {};
    this.#push({ ...inResponse, type: "response_end", status, durationMs: 0, ...reason, ...error }, at);
    for (const { callId, result } of calls) this.#result(inResponse, callId, result, at);
    turn.whole = calls.length === 0 && items.some(({ type }) => type === "assistant_message");
    turn.whole &&= status === "completed";
    this.#counts.responses += 1;
    this.#counts.thoughts += items.filter(({ type }) => type === "reasoning").length;
  }

  #result(
    inResponse: { readonly turn: string; readonly response: string },
    callId: string,
    result: ResultEntry | undefined,
    at: string | undefined,
  ): void {
    const base = { ...inResponse, type: "tool_result", callId } as const;
    if (result === undefined) {
      this.#counts.openCalls += 1;
      this.#push({ ...base, status: "outcome_unknown", text: NO_RESULT }, at);
      return;
    }
    const blob = result.full === undefined ? {} : { blob: this.#blob(Buffer.from(result.full)) };
    const status = result.failed === true ? "error" : "ok";
    this.#push({ ...base, status, text: result.text, ...blob }, result.at ?? at);
  }

  /** A cut is at the edge of a message or an answer: results belong to their answer. */
  #cut(before: number, summary: string, at: string | undefined): void {
    const kept = this.#entries
      .slice(0, this.#starts.length)
      .findIndex(({ kind }, index) => index >= before && (kind === "user" || kind === "answer"));
    // If nothing is left before what follows, that needs a message of its own.
    if (kept === -1 && summary === "") this.#endTurn();
    const start = kept === -1 ? this.#drafts.length : (this.#starts[kept] as number);
    this.#push({ type: "compaction", before: this.#options.firstSeq + start, summary }, at);
  }

  #push(draft: AppendDraft, at: string | undefined): void {
    this.#drafts.push(at === undefined ? draft : { ...draft, at });
  }
}

/** Takes the last call out of the list; of several calls of one answer, the first. */
function takeCall(calls: Call[]): Call | undefined {
  let at = calls.length - 1;
  while (at > 0 && calls[at - 1]?.entry === calls[at]?.entry) at -= 1;
  return calls.splice(Math.max(0, at), 1)[0];
}

function listOf<T>(lists: Map<string, T[]>, key: string): T[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}

/** Two calls of one answer with one id would share a result, so the later one gets its index appended, as in a stream. */
function answerOf(entry: AnswerEntry): Answer {
  const { dialect, items } = entry;
  const taken = new Set<string>();
  const calls: Call[] = [];
  const drafts = readAnswer(dialect, items).map((item): ItemDraft => {
    if (item.type !== "tool_call") return item;
    const callId = taken.has(item.callId) ? `${item.callId || "call"}_${item.outputIndex}` : item.callId;
    taken.add(callId);
    calls.push({ entry, callId, rawId: rawIdOf(item, dialect) });
    return callId === item.callId ? item : { ...item, callId };
  });
  const answered = new Set(drafts.map((item) => (item.type === "hosted_item" ? item.answers : undefined)));
  return { items: drafts, calls: calls.filter(({ callId }) => !answered.has(callId)) }; // the provider ran those
}

function rawIdOf(item: Extract<ItemDraft, { readonly type: "tool_call" }>, dialect: Dialect): string {
  if (dialect !== "openai-chat") return item.callId;
  return stringOf(objectOf(tryParseJson(item.item))["id"]) ?? item.callId;
}
