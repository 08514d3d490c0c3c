/**
 * A server's open sockets, and which of them may be closed to make room. Node's own connection limit shuts out the
 * latest arrival: a few thousand sockets that never finish a request (slowloris) would lock out the owner. Here only
 * one thing protects a connection: a request on it that the server accepted and that waits for its answer.
 * Anything a stranger can do (send nothing, half a header, half a login, a refused body that never ends) leaves a
 * connection that the next newcomer can replace.
 *
 * Room is made after a round of the event loop, and never by closing a newcomer whose first bytes are still unread.
 * Otherwise a flood that arrives together with the owner could push the owner out before the key is seen.
 */

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Times are in milliseconds. */
export interface ConnectionLimits {
  /**
   * Open connections. One more replaces the oldest that never had an accepted request, or else the one idle longest. A
   * connection is safe only while an accepted request waits on it for its answer.
   */
  readonly connections: number;
  /** Pending requests on one connection. */
  readonly pipelined: number;
  /** How long a request that is not accepted (a login, or a refused one) has for its body and its answer. */
  readonly strangerMs: number;
}

export const CONNECTION_LIMITS: ConnectionLimits = { connections: 2000, pipelined: 32, strangerMs: 5000 };

export class Connections {
  /**
   * Connections without an accepted request so far, oldest first, each with the round in which it arrived. Closed
   * first.
   */
  readonly #strangers = new Map<Socket, number>();
  /** Connections with an accepted request earlier and none pending, longest idle first. */
  readonly #idle = new Set<Socket>();
  /** Pending accepted requests per connection. */
  readonly #served = new Map<Socket, number>();
  /** Pending requests of any kind per connection. */
  readonly #asked = new WeakMap<Socket, number>();
  readonly #limits: ConnectionLimits;
  #round = 0;
  #clearing = false;
  #closing = false;

  constructor(server: Server, limits: ConnectionLimits) {
    this.#limits = limits;
    server.on("connection", (socket: Socket) => {
      if (this.#isFull) {
        socket.destroy();
        return;
      }
      this.#strangers.set(socket, this.#round);
      socket.on("close", () => this.#forget(socket));
      // A burst may exceed the limit for one round of the event loop, but not without bound.
      if (this.count > 2 * limits.connections) this.#evict(this.#strangers.keys());
      else this.#clearSoon();
    });
  }

  get count(): number {
    return this.#strangers.size + this.#idle.size + this.#served.size;
  }

  /** Called when a request's header has arrived, before its sender is known. */
  begin({ socket }: IncomingMessage, response: ServerResponse): void {
    const asked = (this.#asked.get(socket) ?? 0) + 1;
    this.#asked.set(socket, asked);
    response.on("close", () => this.#asked.set(socket, (this.#asked.get(socket) ?? 1) - 1));
    // No browser pipelines that many requests; a client that sends thousands at once is hostile.
    if (asked > this.#limits.pipelined) socket.destroy();
  }

  /** The request is accepted, so its connection stays until it is answered. */
  admit({ socket }: IncomingMessage, response: ServerResponse): void {
    const served = this.#served.get(socket) ?? 0;
    if (served === 0 && this.#isFull) socket.destroy();
    if (socket.destroyed) return; // closed before its header was read
    this.#forget(socket);
    this.#served.set(socket, served + 1);
    response.on("close", () => this.#release(socket));
  }

  /** The request is not accepted. Its body and answer have a short time, then its socket is closed. */
  limit(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const deadline = setTimeout(() => socket.destroy(), this.#limits.strangerMs);
    deadline.unref();
    const settle = (): void => {
      if (socket.destroyed || (request.complete && response.writableFinished)) clearTimeout(deadline);
    };
    request.on("close", settle);
    response.on("close", settle);
  }

  /** Closes each connection after its last answer, or at once if none is pending. */
  closeWhenIdle(): void {
    this.#closing = true;
    for (const socket of [...this.#strangers.keys(), ...this.#idle]) socket.destroy();
  }

  get #isFull(): boolean {
    return this.#served.size >= this.#limits.connections;
  }

  #forget(socket: Socket): void {
    this.#strangers.delete(socket);
    this.#idle.delete(socket);
    this.#served.delete(socket);
  }

  #release(socket: Socket): void {
    const served = this.#served.get(socket);
    if (served === undefined) return;
    if (served > 1) {
      this.#served.set(socket, served - 1);
      return;
    }
    this.#served.delete(socket);
    this.#idle.add(socket);
    if (this.#closing) socket.end();
    this.#clearSoon();
  }

  #clearSoon(): void {
    if (this.#clearing || this.count <= this.#limits.connections) return;
    this.#clearing = true;
    setImmediate(() => {
      this.#clearing = false;
      this.#evict(this.#strangersBefore(this.#round));
      if (this.#strangers.size === 0) this.#evict(this.#idle);
      this.#round += 1;
      this.#clearSoon(); // only newcomers are left; the next round reads them
    });
  }

  *#strangersBefore(round: number): Generator<Socket> {
    for (const [socket, since] of this.#strangers) {
      if (since >= round) return;
      yield socket;
    }
  }

  #evict(candidates: Iterable<Socket>): void {
    for (const socket of candidates) {
      if (this.count <= this.#limits.connections) return;
      this.#forget(socket);
      socket.destroy();
    }
  }
}
