/**
 * One connection of the proxy in both directions, and the faults it is subject to (pg-proxy.ts).
 *
 * @module
 */

import type { Socket } from "node:net";

import { Framing, isEncryptionRequest, type PgStatement, type Request, Requests } from "./pg-wire.ts";

/** `answers`: what the server says is held back; `statements`: what the client says; `both`. */
export type Direction = "statements" | "answers" | "both";

export interface PgProxyCounters {
  /** Connections that were ever accepted. */
  accepted: number;
  cut: number;
  swallowed: number;
  refused: number;
}

/** Answers that are to be lost. */
export class SwallowRule {
  readonly done: Promise<void>;
  readonly matches: (statement: PgStatement) => boolean;
  readonly times: number;
  readonly after: "close" | "silent";
  #finish: () => void = () => undefined;
  count = 0;
  /** Statements whose answers are on their way. */
  taken = 0;
  stopped = false;

  constructor(matches: (statement: PgStatement) => boolean, times: number, after: "close" | "silent") {
    this.matches = matches;
    this.times = times;
    this.after = after;
    this.done = new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  get wants(): boolean {
    return !this.stopped && this.count + this.taken < this.times;
  }

  lost(): void {
    this.count += 1;
    if (this.count === this.times) this.#finish();
  }

  stop(): void {
    this.stopped = true;
  }
}

/** A statement, or an answer, that is to be held back. */
export class HoldRule {
  readonly matches: (statement: PgStatement) => boolean;
  readonly what: "statement" | "answer";
  readonly reached: Promise<void>;
  arrived: () => void = () => undefined;
  /** Lets go of what arrived. */
  resume: (() => void) | undefined;

  constructor(matches: (statement: PgStatement) => boolean, what: "statement" | "answer") {
    this.matches = matches;
    this.what = what;
    this.reached = new Promise((resolve) => {
      this.arrived = resolve;
    });
  }
}

/** What is to go wrong, for all connections of a proxy. */
export class Faults {
  readonly swallows = new Set<SwallowRule>();
  readonly holds = new Set<HoldRule>();
  readonly silences = new Set<{ readonly direction: Direction }>();
  readonly statementListeners = new Set<(statement: PgStatement) => void>();
  readonly answerListeners = new Set<(statement: PgStatement, failed: boolean) => void>();
  delayMs = 0;
  refusing = 0;

  isSilent(direction: "statements" | "answers"): boolean {
    return [...this.silences].some((one) => one.direction === "both" || one.direction === direction);
  }

  /** The rule for this request, if there is one; it is used up. */
  holdFor(statements: readonly PgStatement[], what: HoldRule["what"]): HoldRule | undefined {
    const rule = [...this.holds].find((one) => one.what === what && statements.some(one.matches));
    if (rule !== undefined) this.holds.delete(rule);
    return rule;
  }

  release(rule: HoldRule): void {
    this.holds.delete(rule);
    rule.resume?.();
  }
}

/** A request that was passed on, until its answer has come. */
interface Asked {
  readonly statements: readonly PgStatement[];
  readonly swallow: SwallowRule | undefined;
}

/** One connection, in both directions. */
export class Link {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #faults: Faults;
  readonly #counters: PgProxyCounters;
  readonly #requests = new Requests();
  readonly #toServer: Pipe;
  readonly #toClient: Pipe;
  /** The answers that are expected, oldest first. */
  readonly #asked: Asked[] = [];
  #answer: Buffer[] = [];
  #failed = false;
  /** After an answer was lost, the client hears nothing more. */
  #mute = false;
  #closed = false;
  onClose: () => void = () => undefined;

  constructor(client: Socket, server: Socket, faults: Faults, counters: PgProxyCounters) {
    this.#client = client;
    this.#server = server;
    this.#faults = faults;
    this.#counters = counters;
    this.#toServer = new Pipe(server, faults, "statements");
    this.#toClient = new Pipe(client, faults, "answers");
    const [fromClient, fromServer] = [new Framing("client"), new Framing("server")];
    for (const socket of [client, server]) socket.setNoDelay(true).on("error", () => undefined);
    client.on("data", (bytes) => {
      for (const message of fromClient.push(bytes)) {
        if (message.type === "" && isEncryptionRequest(message.bytes)) {
          client.write("N");
          continue;
        }
        const request = this.#requests.add(message);
        if (request !== undefined) this.#ask(request);
      }
    });
    server.on("data", (bytes) => {
      for (const { type, bytes: whole } of fromServer.push(bytes)) this.#answered(type, whole);
    });
    client.on("close", () => {
      // What was sent before still reaches the server, however late, as on a real network.
      if (this.#toServer.waits) this.#toServer.whenEmpty = () => server.end();
      else this.#close();
    });
    server.on("close", () => {
      if (!this.#mute) this.#close();
    });
  }

  get isHeldBack(): boolean {
    return this.#toServer.waits || this.#toClient.waits;
  }

  pump(): void {
    this.#toServer.pump();
    this.#toClient.pump();
  }

  cut(how: "reset" | "end"): void {
    for (const socket of [this.#client, this.#server])
      if (how === "reset") socket.resetAndDestroy();
      else socket.destroy();
    this.#close();
  }

  #ask({ statements, bytes, isAnswered }: Request): void {
    for (const statement of statements)
      for (const listener of this.#faults.statementListeners) listener(statement);
    if (isAnswered) {
      const swallow = [...this.#faults.swallows].find((one) => one.wants && statements.some(one.matches));
      if (swallow !== undefined) swallow.taken += 1;
      this.#asked.push({ statements, swallow });
    }
    const hold = this.#faults.holdFor(statements, "statement");
    if (hold !== undefined) this.#toServer.holdBack(hold);
    this.#toServer.send(bytes);
  }

  #answered(type: string, whole: Buffer): void {
    const [asked] = this.#asked;
    if (this.#mute) return;
    if (asked === undefined) return this.#toClient.send(whole); // a notification, or a farewell
    this.#answer.push(whole);
    if (type === "E") this.#failed = true;
    // The answers of a login come one by one, and the client must reply to some of them.
    const ends = type === "Z" || asked.statements.length === 0;
    if (!ends) return;
    const answer = Buffer.concat(this.#answer);
    const failed = this.#failed;
    this.#answer = [];
    if (type === "Z") {
      this.#asked.shift();
      this.#failed = false;
      for (const statement of asked.statements)
        for (const listener of this.#faults.answerListeners) listener(statement, failed);
      if (asked.swallow !== undefined && this.#lose(asked.swallow, failed)) return;
      const hold = this.#faults.holdFor(asked.statements, "answer");
      if (hold !== undefined) this.#toClient.holdBack(hold);
    }
    this.#toClient.send(answer);
  }

  /** Returns whether the answer is lost. */
  #lose(swallow: SwallowRule, failed: boolean): boolean {
    swallow.taken -= 1;
    if (failed || swallow.stopped) return false;
    this.#counters.swallowed += 1;
    if (swallow.after === "silent") {
      this.#mute = true;
      this.#server.destroy();
    } else this.cut("end");
    swallow.lost();
    return true;
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#client.destroy();
    this.#server.destroy();
    for (const { swallow } of this.#asked) if (swallow !== undefined) swallow.taken -= 1;
    this.onClose();
  }
}

/** One direction. Keeps the order, whatever is held back and for how long. */
class Pipe {
  readonly #to: Socket;
  readonly #faults: Faults;
  readonly #direction: "statements" | "answers";
  readonly #queue: { readonly bytes: Buffer; readonly at: number }[] = [];
  #hold: HoldRule | undefined;
  whenEmpty: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(to: Socket, faults: Faults, direction: "statements" | "answers") {
    this.#to = to;
    this.#faults = faults;
    this.#direction = direction;
  }

  get waits(): boolean {
    return this.#queue.length > 0;
  }

  holdBack(rule: HoldRule): void {
    this.pump(); // what came before is not held
    this.#hold = rule;
    rule.resume = () => {
      this.#hold = undefined;
      this.pump();
    };
    rule.arrived();
  }

  send(bytes: Buffer): void {
    this.#queue.push({ bytes, at: performance.now() + this.#faults.delayMs });
    this.pump();
  }

  pump(): void {
    clearTimeout(this.#timer);
    while (this.#hold === undefined && !this.#faults.isSilent(this.#direction)) {
      const [first] = this.#queue;
      if (first === undefined) return this.whenEmpty?.();
      const wait = first.at - performance.now();
      if (wait > 0) {
        this.#timer = setTimeout(() => this.pump(), Math.ceil(wait));
        return;
      }
      this.#queue.shift();
      if (!this.#to.destroyed) this.#to.write(first.bytes);
    }
  }
}
