/**
 * A connection that breaks without a listener ends the whole test run, and Node reports only "read ECONNRESET". This
 * module adds to the error whose connection it was.
 *
 * @module
 */

import { subscribe } from "node:diagnostics_channel";
import { type EventEmitter, errorMonitor } from "node:events";
import type { Socket } from "node:net";

function watch(message: unknown, what: string): void {
  const { socket } = message as { readonly socket: Socket };
  const { stack = "" } = new Error("made");
  const emitter: EventEmitter = socket; // whose types know this event
  emitter.on(errorMonitor, (error: Error) => {
    if (socket.listenerCount("error") > 0) return;
    const frames = stack
      .split("\n")
      .filter((line) => /^\s+at /.test(line) && !/node:|stray-errors\.ts/.test(line));
    const address = `${socket.localPort ?? "?"} → ${socket.remotePort ?? "?"}`;
    error.message += `\n(no listener for ${what}, port ${address}, made${frames.join("\n") || " by Node"})`;
  });
}

// This runs for every test file, and several files share a process.
const WATCHED = Symbol.for("throughline.test.stray-errors");
if (!(WATCHED in globalThis)) {
  Object.defineProperty(globalThis, WATCHED, { value: true });
  subscribe("net.client.socket", (message) => watch(message, "this connection"));
  subscribe("net.server.socket", (message) => watch(message, "this connection of a server"));
}
