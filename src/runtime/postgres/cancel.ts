/**
 * Asks the server to stop a statement that nobody waits for any more. Closing the connection does not: the server notices
 * that only when it answers. A statement that waits for a lock would wait on, one more with each repetition, until the
 * server has no connections left. Whether the request arrives changes nothing for its sender.
 */

import { connect } from "node:net";

import type { PgClient } from "./driver.ts";
import type { StoreAddress } from "./store-url.ts";

/** https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-CANCELREQUEST */
const CANCEL_REQUEST = 80_877_102;
const MOST_MS = 2000;

export function cancelStatement({ host, port }: StoreAddress, client: PgClient): void {
  const { processID, secretKey } = client as unknown as {
    readonly processID?: number | null;
    readonly secretKey?: number | null;
  };
  if (typeof processID !== "number" || typeof secretKey !== "number") return; // it never got so far
  const message = Buffer.alloc(16);
  message.writeInt32BE(message.length, 0);
  message.writeInt32BE(CANCEL_REQUEST, 4);
  message.writeInt32BE(processID, 8);
  message.writeInt32BE(secretKey, 12);
  const socket = host.startsWith("/") ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  socket.on("error", () => undefined);
  socket.setTimeout(MOST_MS, () => socket.destroy());
  socket.unref();
  socket.end(message);
}
