/**
 * The questions of one call. A question is durable in the log before anybody sees it, and its answer before the server
 * gets it. While a person thinks, neither the turn's time limit nor the call's own runs. When the call ends, so do its
 * questions.
 *
 * What the person typed is never logged: it goes to the server only.
 */

import {
  type Elicitation,
  type ElicitationAnswer,
  type EventDraft,
  readElicitation,
  type ToolCall,
} from "../../base/events/index.ts";
import { codedError, inertLine, onAbort } from "../../base/support/index.ts";
import { type ToolContext, withElicit } from "../tools/index.ts";
import type { TurnContext } from "./context.ts";
import { whyStopped } from "./permission.ts";
import type { Paused } from "./settle-in-time.ts";

const CANCEL: ElicitationAnswer = { action: "cancel" };
const DECLINE: ElicitationAnswer = { action: "decline" };

export class CallQuestions {
  readonly #context: TurnContext;
  readonly #call: ToolCall;
  readonly #over = new AbortController();
  readonly #open = new Set<Promise<unknown>>();

  constructor(context: TurnContext, call: ToolCall) {
    this.#context = context;
    this.#call = call;
  }

  /** Adds the function that asks to a tool's context. `paused` suspends the time limit of the call. */
  scoped(toolContext: ToolContext, paused: Paused): ToolContext {
    const end = (): void => this.#over.abort();
    if (toolContext.signal.aborted) end();
    onAbort(toolContext.signal, end);
    return withElicit(toolContext, (request) => {
      const answer = this.#elicit(request, paused);
      const settled = answer.then(
        () => undefined,
        () => undefined,
      );
      this.#open.add(settled);
      void settled.then(() => this.#open.delete(settled));
      return answer;
    });
  }

  /** The call has ended. Resolves once the log says that its questions are over. */
  async end(): Promise<void> {
    this.#over.abort();
    await Promise.all(this.#open);
  }

  async #elicit(given: Elicitation, paused: Paused): Promise<ElicitationAnswer> {
    if (this.#over.signal.aborted) return CANCEL;
    const { live, permissions, ids } = this.#context;
    const read = this.#read(given);
    if (!read.ok) return this.#refuse(given, read.problem);
    const request = read.value;
    const requestId = ids.next("el");
    const asked: EventDraft = { type: "elicitation_request", ...this.#base(requestId), ...request };
    if (!permissions.interactive) {
      const reason = "nobody can be asked: the session is not interactive";
      await live.append([asked, this.#answered(requestId, DECLINE, "policy", reason)]);
      return DECLINE;
    }
    const { signal } = this.#over;
    // Start waiting before the question becomes visible: its first reader may answer at once.
    const waiting = permissions.elicit(requestId, request, signal);
    waiting.catch(() => undefined);
    return this.#pausedBoth(paused, async () => {
      await live.append([asked], { durable: true });
      const answer = await waiting.catch(() => undefined);
      if (answer === undefined) {
        await live.append([this.#answered(requestId, CANCEL, "policy", this.#whyOver())]);
        return CANCEL;
      }
      try {
        await live.append([this.#answered(requestId, answer.answer, "person")], { durable: true });
        answer.recorded();
        return answer.answer;
      } catch (error) {
        answer.recorded(error);
        throw error;
      }
    });
  }

  #whyOver(): string {
    const { signal } = this.#context;
    return signal.aborted ? whyStopped(signal) : "the call ended first";
  }

  #pausedBoth<T>(paused: Paused, work: () => Promise<T>): Promise<T> {
    const { deadline } = this.#context;
    return paused(() => (deadline === undefined ? work() : deadline.paused(work)));
  }

  #read(given: Elicitation): ReturnType<typeof readElicitation> {
    const read = readElicitation(given);
    if (!read.ok) return read;
    const text = JSON.stringify(read.value);
    // It would be logged and shown. Redacted, it would no longer be what the server asked.
    return this.#context.redact(text) === text
      ? read
      : { ok: false, problem: "holds a secret of this process" };
  }

  /** Never shown. The person learns who asked and why it was refused, not what it said. */
  async #refuse(given: Elicitation, problem: string): Promise<ElicitationAnswer> {
    const { live, turn } = this.#context;
    const server = typeof given?.server === "string" ? inertLine(given.server, 100) : "of a tool";
    const message = `the server ${JSON.stringify(server)} asked for input, which was declined and not shown: it ${problem}`;
    const told = this.#context.redact(message);
    await live.append([{ type: "notice", turn, code: ELICITATION_REFUSED, message: told }]);
    return DECLINE;
  }

  #base(requestId: string): {
    readonly turn: string;
    readonly response: string;
    readonly callId: string;
    readonly requestId: string;
  } {
    const { response, callId } = this.#call;
    return { turn: this.#context.turn, response, callId, requestId };
  }

  #answered(
    requestId: string,
    { action }: ElicitationAnswer,
    by: "person" | "policy",
    reason?: string,
  ): EventDraft {
    return {
      type: "elicitation_answer",
      ...this.#base(requestId),
      action,
      by,
      ...(reason === undefined ? {} : { reason }),
    };
  }
}

/** The code of the notice that a question was declined without being shown. */
export const ELICITATION_REFUSED = "elicitation_refused";

export function notPending(requestId: string): Error {
  return codedError(
    "elicitation_not_pending",
    `no question "${requestId}" is waiting: it was already answered, or its call has ended`,
  );
}
