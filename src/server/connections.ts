/**
 * The server's open sockets, and which of them are at work. Node's own closing of idle connections leaves those alone
 * that have not asked for anything yet, and a client that keeps one in reserve would hold up the end.
 *
 * @module
 */

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

export class Connections {
  /** How many answers each owes. */
  readonly #open = new Map<Socket, number>();
  #closing = false;

  constructor(server: Server) {
    server.on("connection", (socket: Socket) => {
      this.#open.set(socket, 0);
      socket.on("close", () => this.#open.delete(socket));
    });
    server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
      this.#add(socket, 1);
      response.on("close", () => this.#add(socket, -1));
    });
  }

  /** Each ends with its last answer; at once if it owes none. */
  closeWhenIdle(): void {
    this.#closing = true;
    for (const [socket, owed] of this.#open) if (owed === 0) socket.destroy();
  }

  #add(socket: Socket, change: number): void {
    const owed = this.#open.get(socket);
    if (owed === undefined) return;
    this.#open.set(socket, owed + change);
    if (this.#closing && owed + change === 0) socket.end();
  }
}
