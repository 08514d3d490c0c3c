/** An upstream whose answer a test sends by hand, piece by piece. */

import { once } from "node:events";
import type { Socket } from "node:net";

import { inChunks } from "./http-bytes.ts";
import { ownStreams } from "./streams.ts";
import type { Talker } from "./talk.ts";
import { answerBytes, JSON_TYPE, SSE_TYPE, startUpstream, type Upstream } from "./wire.ts";

const CHUNKED = ["Transfer-Encoding", "chunked"] as const;
const SSE_HEAD = answerBytes("200 OK", [SSE_TYPE, CHUNKED]);
export const chunk = (text: string): Buffer =>
  inChunks(Buffer.from(text), Number.MAX_SAFE_INTEGER).subarray(0, -5);

export const closed = async (socket: Socket | undefined): Promise<void> => {
  if (socket !== undefined && !socket.destroyed) await once(socket, "close");
};

/** The text answer of a dialect, event by event. */
export async function eventsOf({ name }: Talker): Promise<readonly string[]> {
  const found = (await ownStreams()).find((one) => one.name === `${name}, a text`);
  return (found?.bytes.toString("utf8") ?? "").split(/(?<=\n\n)/);
}

/** An upstream whose first answer is sent by hand, and which then answers with plain JSON. */
export async function byHand(head: Buffer = SSE_HEAD): Promise<Upstream & { readonly first: () => Socket }> {
  const upstream = await startUpstream((socket, _request, nth) => {
    socket.write(nth === 0 ? head : answerBytes("200 OK", [JSON_TYPE], "{}"));
  });
  return Object.assign(upstream, { first: () => upstream.sockets[0] as Socket });
}
