/**
 * Compaction: the front of the conversation becomes a summary, at the edge of a group. Nothing is removed from the log.
 *
 * The current model writes the summary, in answer to a request folded from the log like any other, in a separate turn
 * that a `branch` leaves again. If that request is too long, the oldest entries are omitted, half at a time. If no
 * model answers, a digest made from the log is used. So there is always a summary, and no session gets stuck (law 6).
 */

import {
  type AssistantMessage,
  type ErrorInfo,
  errorInfoOf,
  type EventDraft,
  type LoggedEvent,
  NO_USAGE,
  type Usage,
} from "../../base/events/index.ts";
import {
  activePath,
  contentText,
  digestOf,
  type Entry,
  type Group,
  keepNewest,
  opensTurn,
  sizeOf,
  startOf,
} from "../fold/index.ts";
import { remedyFor } from "../providers/index.ts";
import { Budget, factsOfTurn, runStep, type TurnContext, TurnDeadline } from "../turn/index.ts";

export interface CompactionPlan {
  /** Events to write first: the end of a turn that a crash left open. */
  readonly opening?: readonly EventDraft[] | undefined;
  /**
   * What stays verbatim: whole turns, the newest entries up to a share of the whole, or everything from an event on.
   */
  readonly keep:
    | { readonly turns: number }
    | { readonly share: number; readonly wholeTurns: boolean }
    | { readonly from: number };
  /** If false, a digest is made without asking a model. */
  readonly ask: boolean;
  readonly instructions?: string | undefined;
  /** The longest summary, in characters. */
  readonly maxLength: number;
}

export interface CompactionOutcome {
  /** `nothing` means that there was nothing to summarise, and nothing was written. */
  readonly status: "completed" | "nothing" | "cancelled" | "failed";
  readonly usage: Usage;
  readonly error?: ErrorInfo;
}

export async function runCompaction(context: TurnContext, plan: CompactionPlan): Promise<CompactionOutcome> {
  try {
    if (plan.opening !== undefined && plan.opening.length > 0) await context.live.append(plan.opening);
    const entries = [...context.live.fold.entries];
    const first = firstKept(entries, plan.keep);
    if (!entries.slice(0, first).some((entry) => entry.kind !== "summary"))
      return { status: "nothing", usage: NO_USAGE };
    const over = plan.ask ? new Budget(context).over() : undefined;
    if (over !== undefined) {
      const { error = { code: "max_cost", message: over.why } } = over.ending;
      return { status: "failed", usage: NO_USAGE, error };
    }
    return await new CompactionRun(context, plan, entries, first).run();
  } catch (error) {
    // Only the log can fail here.
    return { status: "failed", usage: NO_USAGE, error: errorInfoOf(error) };
  }
}

function firstKept(entries: readonly Entry[], keep: CompactionPlan["keep"]): number {
  if ("from" in keep) {
    const index = entries.findIndex((entry) => startOf(entry) >= keep.from);
    return index === -1 ? entries.length : index;
  }
  if ("share" in keep) {
    const whole = entries.reduce((sum, entry) => sum + sizeOf(entry), 0);
    const first = keepNewest(entries, whole * keep.share);
    if (!keep.wholeTurns) return first;
    // An answer without its question is of little use.
    const message = entries.findIndex((entry, index) => index >= first && opensTurn(entry));
    return message === -1 ? entries.length : message;
  }
  const messages = entries.flatMap((entry, index) => (opensTurn(entry) ? [index] : []));
  return keep.turns === 0 ? entries.length : (messages.at(-keep.turns) ?? 0);
}

/** What the model wrote, and the first entry it had read. */
interface Answer {
  readonly text: string;
  readonly from: number;
}

class CompactionRun {
  readonly #context: TurnContext;
  readonly #plan: CompactionPlan;
  readonly #entries: readonly Entry[];
  readonly #first: number;
  readonly #path: readonly LoggedEvent[];
  /** The last event before the separate turn. */
  readonly #base: number;
  #steps = 0;
  #usage = NO_USAGE;
  #refused: ErrorInfo | undefined;

  constructor(context: TurnContext, plan: CompactionPlan, entries: readonly Entry[], first: number) {
    this.#context = context;
    this.#plan = plan;
    this.#entries = entries;
    this.#first = first;
    this.#path = activePath(context.live.log.events);
    this.#base = this.#path.at(-1)?.seq ?? -1;
  }

  async run(): Promise<CompactionOutcome> {
    const started = this.#context.clock.monotonic();
    const answer = this.#plan.ask ? await this.#ask() : undefined;
    const cancelled = answer === "cancelled";
    const by = answer === undefined || cancelled ? "log" : "model";
    const status = cancelled ? "cancelled" : "completed";
    const summary = this.#summary(answer);
    const compaction = { type: "compaction", before: this.#before(), summary, by } as const;
    if (!this.#plan.ask) {
      await this.#context.live.append([compaction], { durable: true }); // no model was asked, so there is no turn to end
      return { status: "completed", usage: NO_USAGE };
    }
    const { turn } = this.#context;
    const durationMs = Math.round(this.#context.clock.monotonic() - started);
    await this.#context.live.append(
      [
        { type: "branch", turn, to: this.#base, why: "compaction" },
        ...(cancelled ? [] : [{ ...compaction, turn }]),
        ...(this.#refused === undefined || by === "model" || cancelled
          ? []
          : [this.#digestNotice(this.#refused)]),
        { type: "turn_end", turn, status, steps: this.#steps, usage: this.#usage, durationMs },
      ],
      { durable: true },
    );
    return { status, usage: this.#usage };
  }

  /** Undefined if no model could write the summary, or not within the time limit of a turn. */
  async #ask(): Promise<Answer | "cancelled" | undefined> {
    const deadline = new TurnDeadline(this.#context.limits.turnTimeoutMs, this.#context.signal);
    try {
      const answer = await this.#askUntil(deadline);
      if (answer !== "cancelled" || !deadline.ranOut) return answer;
      this.#refused = { code: "turn_timeout", message: "the summary was not written in time" };
      return undefined;
    } finally {
      deadline.stop();
    }
  }

  async #askUntil({ signal }: TurnDeadline): Promise<Answer | "cancelled" | undefined> {
    const context = { ...this.#context, signal };
    let from = 0;
    while (from < this.#first) {
      await this.#context.live.append(this.#question(from));
      this.#steps += 1;
      const { response, end } = await runStep(context, this.#steps);
      const group = this.#context.live.fold.group(response);
      this.#usage = factsOfTurn(this.#context).usage;
      if (end.status === "cancelled") return "cancelled";
      const text = textOf(group);
      if ((end.status === "completed" || end.status === "incomplete") && text !== "") return { text, from };
      this.#refused = end.error ?? { code: "empty_response", message: "the model wrote no summary" };
      if (!isTooLong(end.error)) return undefined;
      from = this.#halfOf(from);
    }
    return undefined;
  }

  /** Hides what stays. Each attempt is shorter: it makes its own cut, on the side path that is left afterwards. */
  #question(from: number): readonly EventDraft[] {
    const { turn } = this.#context;
    const kept = this.#before();
    const to = this.#path.findLast((event) => event.seq < kept)?.seq ?? this.#base;
    const entry = this.#entries[from];
    const before = this.#entries.find((one): one is Entry & { kind: "summary" } => one.kind === "summary");
    const cut: readonly EventDraft[] =
      from === 0 || entry === undefined
        ? []
        : [{ type: "compaction", turn, before: startOf(entry), summary: before?.event.summary ?? "" }];
    return [
      { type: "branch", turn, to, why: "compaction" },
      ...cut,
      {
        type: "user_message",
        turn,
        by: "runtime",
        purpose: "compaction",
        content: [{ type: "text", text: questionText(this.#plan.instructions) }],
      },
    ];
  }

  /** The first entry of roughly the newer half of the entries that were read. Always advances. */
  #halfOf(from: number): number {
    const rest = this.#entries.slice(from, this.#first);
    const half = rest.reduce((sum, entry) => sum + sizeOf(entry), 0) / 2;
    return Math.max(from + 1, from + keepNewest(rest, half));
  }

  #before(): number {
    const entry = this.#entries[this.#first];
    return entry === undefined ? this.#base + 1 : startOf(entry);
  }

  #summary(answer: Answer | "cancelled" | undefined): string {
    const { maxLength } = this.#plan;
    const folded = this.#entries.slice(0, this.#first);
    const message = this.#lastMessage(folded);
    const quoted =
      message === undefined ? "" : `\n\n[The user's last message:]\n${bounded(message, maxLength / 3)}`;
    const room = maxLength - quoted.length;
    if (answer === undefined || answer === "cancelled") return `${digestOf(folded, room)}${quoted}`;
    const unread = answer.from === 0 ? "" : this.#unread(answer.from, room / 3);
    return `${bounded(answer.text, room - unread.length)}${unread}${quoted}`;
  }

  #unread(from: number, room: number): string {
    const digest = digestOf(this.#entries.slice(0, from), room);
    return `\n\n[The oldest part was too long to be read for this summary.]\n${digest}`;
  }

  /**
   * A task in progress must not be known only from a summary, so the last message is quoted, with the messages that
   * joined its turn.
   */
  #lastMessage(folded: readonly Entry[]): string | undefined {
    if (this.#entries.slice(this.#first).some(opensTurn)) return undefined;
    const last = folded.findLastIndex(opensTurn);
    if (last === -1) return undefined;
    const said = folded.slice(last).filter((entry) => entry.kind === "user" && entry.event.by === "person");
    return said.map((entry) => (entry.kind === "user" ? contentText(entry.event.content) : "")).join("\n\n");
  }

  #digestNotice(error: ErrorInfo): EventDraft {
    return {
      type: "notice",
      turn: this.#context.turn,
      code: "compaction_digest",
      message: `no model could write the summary (${error.message}), so a digest from the log replaces it`,
    };
  }
}

function textOf(group: Group | undefined): string {
  return (group?.items ?? [])
    .filter((item): item is AssistantMessage => item.type === "assistant_message")
    .map((item) => item.text)
    .join("\n\n")
    .trim();
}

/** Whether the request, not the answer, was too long. */
function isTooLong(error: ErrorInfo | undefined): boolean {
  return remedyFor(error).remedy === "compact" && error?.code !== "max_output_tokens";
}

function bounded(text: string, maxLength: number): string {
  const most = Math.max(40, Math.floor(maxLength));
  if (text.length <= most) return text;
  const tail = ` … (cut here; ${text.length} characters in all)`;
  return `${text.slice(0, Math.max(0, most - tail.length)).toWellFormed()}${tail}`;
}

function questionText(instructions: string | undefined): string {
  const more = instructions === undefined || instructions === "" ? "" : `\n\n${instructions}`;
  return `Summarise this conversation, so that it can go on from your summary alone: it will take the place of everything before it.
Say what the user wants, what was decided and why, what was done and found (names of files, commands, figures, exact values), what is open, and what comes next. Fold an earlier summary in. Leave out greetings and repetition. Call no tools; write the summary and nothing else.${more}`;
}
