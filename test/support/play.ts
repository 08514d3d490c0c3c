/**
 * Plays a random conversation on real parts: a session on a memory store, the real provider code, the strict emulator.
 * Returns everything that was sent and logged, for properties to check.
 *
 * @module
 */

import { createHash } from "node:crypto";

import { codeOf } from "../../src/base/support/index.ts";
import { type RecordedExchange, startEmulator } from "../../src/emulator/index.ts";
import {
  type Agent,
  createAgent,
  type Effort,
  type LoggedEvent,
  memoryStore,
  type PermissionPolicy,
  type Session,
  type SessionEvent,
  type Store,
  type Turn,
  type TurnResult,
} from "../../src/index.ts";
import { type Log } from "../../src/inspect.ts";
import type { Action, Conversation, ModelName } from "./conversation.ts";
import { instantClock } from "./instant-clock.ts";
import { practiceModel } from "./practice-models.ts";
import { practiceTools } from "./practice-tools.ts";

/** One request, with the log as it was when the request was made. */
export interface Sent {
  readonly session: string;
  /** Up to and including the request's own `response_start`. */
  readonly events: readonly LoggedEvent[];
  readonly response: string;
  readonly body: string;
  /** The bytes of the answer, as they arrived. */
  readonly bytes: Uint8Array[];
  /** Undefined if it was cancelled before the emulator had it. */
  readonly exchange: RecordedExchange | undefined;
}

export interface Played {
  readonly conversation: Conversation;
  readonly baseUrl: string;
  readonly sent: readonly Sent[];
  readonly exchanges: readonly RecordedExchange[];
  readonly turns: readonly TurnResult[];
  /** The log of every session as it was left, including forks and those before a crash. */
  readonly logs: readonly (readonly LoggedEvent[])[];
}

/** Longer turns cost time and show nothing new. */
const MAX_STEPS = 8;

export async function play(conversation: Conversation): Promise<Played> {
  const emulator = await startEmulator({ seed: "a conversation", clock: instantClock() });
  const player = new Player(conversation, emulator.baseUrl);
  try {
    await player.open();
    for (const action of conversation.actions) {
      if ("faults" in action) emulator.addFaults(...action.faults);
      await player.act(action);
    }
    return await player.finish(emulator.exchanges);
  } finally {
    await emulator.close();
  }
}

type Pending = Omit<Sent, "exchange"> & { readonly hash: string };

class Player {
  readonly #conversation: Conversation;
  readonly #baseUrl: string;
  readonly #clock = instantClock();
  readonly #agent: Agent;
  readonly #sent: Pending[] = [];
  readonly #turns: TurnResult[] = [];
  readonly #logs: (readonly LoggedEvent[])[] = [];
  #store: Store;
  #log: Log | undefined;
  #session: Session | undefined;
  #model: ModelName;
  #effort: Effort | undefined;
  #forks = 0;
  #running: Turn | undefined;
  #cancelInTool = false;

  constructor(conversation: Conversation, baseUrl: string) {
    this.#conversation = conversation;
    this.#baseUrl = baseUrl;
    this.#model = conversation.model;
    this.#store = this.#watched(memoryStore({ clock: this.#clock }));
    this.#agent = createAgent({
      model: practiceModel(conversation.model, baseUrl),
      system: "Be brief.",
      tools: practiceTools({
        began: () => {
          if (this.#cancelInTool) this.#running?.cancel();
        },
      }),
      permissions: permissionsOf(conversation),
      replay: { reasoning: conversation.replay },
      limits: { maxSteps: MAX_STEPS, toolGraceMs: 1 },
      clock: this.#clock,
      trace: (record) => {
        if (record.type === "bytes") this.#sent.at(-1)?.bytes.push(Uint8Array.from(record.bytes));
        else this.#requested(record.response, Buffer.concat(record.body));
      },
    });
  }

  async open(id = "s"): Promise<void> {
    this.#session = await this.#agent.open({ id, store: this.#store });
    await this.#useModel();
  }

  async act(action: Action): Promise<void> {
    const session = this.#current();
    switch (action.type) {
      case "send":
        await this.#run(
          session.send(action.prompt, {
            ...(action.effort === undefined ? {} : { effort: action.effort }),
            ...(action.model === undefined ? {} : { model: practiceModel(action.model, this.#baseUrl) }),
          }),
          action,
        );
        return;
      case "model":
        this.#model = action.to;
        this.#effort = action.effort;
        await this.#useModel();
        return;
      case "retry":
        if (this.#messages().length > 0) await this.#run(session.retry(), action);
        return;
      case "edit": {
        const message = chosen(this.#messages(), action.pick);
        if (message !== undefined) await this.#run(session.edit(message.seq, action.prompt), {});
        return;
      }
      case "keep_turns":
        if (this.#messages().length > 0) await session.keepLastTurns(action.turns);
        return;
      case "cut_from": {
        // Not the very first events: a session without its start is a different case.
        const event = chosen(await this.#path(), action.pick);
        if (event !== undefined && event.seq > 0) await session.truncateFrom(event.seq);
        return;
      }
      case "compact":
        await session
          .compact(action.keepTurns === undefined ? {} : { keepTurns: action.keepTurns })
          .catch((error: unknown) => {
            if (codeOf(error) !== "nothing_to_compact") throw error;
          });
        return;
      case "checkout": {
        const event = chosen(this.#log?.events ?? [], action.pick);
        if (event !== undefined && event.seq > 0) await session.checkout({ to: event.seq });
        return;
      }
      case "undo":
        if (this.#messages().length > 0) await session.undo();
        return;
      case "fork":
        await this.#fork(session, action.pick);
        return;
      case "reopen":
        await session.close();
        await this.open(session.id);
        return;
      case "crash":
        await this.#crash(session, action);
        return;
    }
  }

  async finish(exchanges: readonly RecordedExchange[]): Promise<Played> {
    this.#keepLog();
    await this.#current().close();
    const sent = matched(this.#sent, exchanges, this.#logs.flat());
    return {
      conversation: this.#conversation,
      baseUrl: this.#baseUrl,
      sent,
      exchanges: [...exchanges],
      turns: this.#turns,
      logs: this.#logs,
    };
  }

  #current(): Session {
    if (this.#session === undefined) throw new Error("not open");
    return this.#session;
  }

  async #useModel(): Promise<void> {
    await this.#current().setModel(practiceModel(this.#model, this.#baseUrl, this.#effort));
  }

  async #run(
    turn: Turn,
    how: { readonly cancelAfter?: number; readonly cancelInTool?: true },
  ): Promise<void> {
    this.#running = turn;
    this.#cancelInTool = how.cancelInTool === true;
    let seen = 0;
    if (how.cancelAfter === 0) turn.cancel();
    for await (const event of turn) {
      seen += 1;
      if (seen === how.cancelAfter) turn.cancel();
      void (event satisfies SessionEvent);
    }
    this.#turns.push(await turn.result());
    this.#running = undefined;
    this.#cancelInTool = false;
  }

  async #fork(session: Session, pick: number | undefined): Promise<void> {
    const path = await this.#path();
    if (path.length === 0) return;
    const at = pick === undefined ? undefined : chosen(path, pick)?.seq;
    this.#forks += 1;
    const child = await session.fork({ id: `fork-${this.#forks}`, ...(at === undefined ? {} : { at }) });
    await child.close();
    this.#keepLog();
    await session.close();
    await this.open(child.id);
  }

  async #crash(
    session: Session,
    { pick, afterwards }: { readonly pick: number; readonly afterwards: "resume" | "send" },
  ): Promise<void> {
    const events = [...(this.#log?.events ?? [])];
    if (events.length === 0) return;
    // Most crashes are near the end; an early one would lose the whole conversation.
    const left = Math.max(1, events.length - Math.floor(pick * Math.min(events.length, 24)));
    this.#keepLog();
    await session.close();
    this.#store = this.#watched(await storeWith(session.id, events.slice(0, left)));
    await this.open(session.id);
    const reopened = this.#current();
    if (afterwards === "resume" && reopened.interrupted) await this.#run(reopened.resume(), {});
    else await this.#run(reopened.send("Thanks"), {});
  }

  #messages(): readonly LoggedEvent[] {
    return onPath(this.#log?.events ?? []).filter(
      (event) => event.type === "user_message" && event.by === "person",
    );
  }

  async #path(): Promise<readonly LoggedEvent[]> {
    const path: LoggedEvent[] = [];
    for await (const event of this.#current().events({ path: "active" })) path.push(event);
    return path;
  }

  #requested(response: string, body: Buffer): void {
    this.#sent.push({
      session: this.#current().id,
      events: [...(this.#log?.events ?? [])],
      response,
      body: body.toString("utf8"),
      bytes: [],
      hash: sha256(body),
    });
  }

  #keepLog(): void {
    this.#logs.push([...(this.#log?.events ?? [])]);
  }

  /** The log of the open session is accessible, because requests are made while it is open. */
  #watched(store: Store): Store {
    return {
      ...store,
      open: async (id, options) => {
        const log = await store.open(id, options);
        if (options.mode === "write") this.#log = log;
        return log;
      },
    };
  }
}

/**
 * Which exchange each request was: by request id if the head of the answer arrived. A request that was cancelled before
 * gets the first remaining exchange with its bytes, or none, since it may never have been seen.
 */
function matched(
  pending: readonly Pending[],
  exchanges: readonly RecordedExchange[],
  events: readonly LoggedEvent[],
): readonly Sent[] {
  const requestIds = new Map(
    events.flatMap((event) =>
      event.type === "response_end" ? [[event.response, event.requestId] as const] : [],
    ),
  );
  const byId = new Map(exchanges.map((one) => [one.responseHeaders["x-request-id"], one]));
  const known = new Map(
    pending.map(({ response }) => [response, byId.get(requestIds.get(response) ?? "none")] as const),
  );
  const rest = exchanges.filter((one) => ![...known.values()].includes(one));
  return pending.map(({ hash, ...sent }): Sent => {
    const exchange = known.get(sent.response);
    if (exchange !== undefined) return { ...sent, exchange };
    const at = rest.findIndex((one) => sha256(one.requestText) === hash);
    return { ...sent, exchange: at === -1 ? undefined : rest.splice(at, 1)[0] };
  });
}

/** A store in which a crash has left this log. */
export async function storeWith(id: string, events: readonly LoggedEvent[]): Promise<Store> {
  const store = memoryStore({ clock: instantClock() });
  const log = await store.open(id, { mode: "write" });
  for (const event of events) {
    const { v: _v, seq: _seq, epoch: _epoch, ...draft } = event;
    await log.append([draft as Parameters<Log["append"]>[0][number]]);
  }
  await log.close();
  return store;
}

/** The active path, computed independently of the code under test. */
export function onPath(events: readonly LoggedEvent[]): readonly LoggedEvent[] {
  const pathAt = new Map<number, readonly LoggedEvent[]>();
  let path: readonly LoggedEvent[] = [];
  // The next message abandons a compaction that never ended: the path is what it was before.
  let aside: { readonly turn: string; readonly path: readonly LoggedEvent[] } | undefined;
  for (const event of events) {
    const over = event.type === "turn_end" && event.turn === aside?.turn;
    const other = (event.type === "user_message" || event.type === "branch") && event.turn !== aside?.turn;
    if (aside !== undefined && other && event.type === "user_message") path = aside.path;
    if (over || other) aside = undefined;
    const begins =
      (event.type === "branch" && event.why === "compaction") ||
      (event.type === "user_message" && event.purpose === "compaction");
    if (begins && aside === undefined && event.turn !== undefined) aside = { turn: event.turn, path };
    if (event.type === "branch") {
      const back = path.findIndex((one) => one.seq === event.to);
      path = back === -1 ? (pathAt.get(event.to) ?? []) : path.slice(0, back + 1);
    }
    path = [...path, event];
    pathAt.set(event.seq, path);
  }
  return path;
}

function permissionsOf({ permissions }: Conversation): PermissionPolicy {
  if (permissions !== "function") return permissions;
  return async ({ access, tool: name }) => {
    if (name === "edit_file") throw new Error("the person has gone home");
    return access === "execute" ? { decision: "deny", reason: "not today" } : { decision: "allow" };
  };
}

function chosen<T>(list: readonly T[], pick: number): T | undefined {
  return list[Math.min(list.length - 1, Math.floor(pick * list.length))];
}

export function sha256(bytes: string | Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
