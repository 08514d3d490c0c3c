/**
 * The server's open sockets, and how many answers each is owed. Node's own closing of idle connections leaves those alone
 * that have not asked for anything yet, and its limit of connections shuts out whoever comes last: a thousand sockets
 * that say nothing (slowloris) would keep everybody else away. Here they make room.
 */

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

import type { ServerLimits } from "./limits.ts";

export class Connections {
  /** How many answers each is owed; the oldest first. */
  readonly #open = new Map<Socket, number>();
  readonly #limits: Pick<ServerLimits, "connections" | "pipelined">;
  #closing = false;

  constructor(server: Server, limits: Pick<ServerLimits, "connections" | "pipelined">) {
    this.#limits = limits;
    server.on("connection", (socket: Socket) => {
      this.#makeRoom();
      if (this.#open.size >= limits.connections) {
        socket.destroy(); // all others are at work
        return;
      }
      this.#open.set(socket, 0);
      socket.on("close", () => this.#open.delete(socket));
    });
    server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
      this.#add(socket, 1);
      response.on("close", () => this.#add(socket, -1));
    });
  }

  get count(): number {
    return this.#open.size;
  }

  /** Each ends with its last answer; at once if it is owed none. */
  closeWhenIdle(): void {
    this.#closing = true;
    for (const [socket, owed] of this.#open) if (owed === 0) socket.destroy();
  }

  #makeRoom(): void {
    for (const [socket, owed] of this.#open) {
      if (this.#open.size < this.#limits.connections) return;
      if (owed > 0) continue;
      this.#open.delete(socket);
      socket.destroy();
    }
  }

  #add(socket: Socket, change: number): void {
    const owed = this.#open.get(socket);
    if (owed === undefined) return;
    this.#open.set(socket, owed + change);
    // No browser asks again before it has its answers; who sends thousands at once means harm.
    if (owed + change > this.#limits.pipelined) socket.destroy();
    if (this.#closing && owed + change === 0) socket.end();
  }
}
