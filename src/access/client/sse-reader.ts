/**
 * Reads server-sent events from a stream, in a browser or elsewhere. Unlike the decoder in `wire/`, it works on text
 * and keeps the `id`. The server is our own, so its frames are small and its line ends known.
 */

import { codedError, onAbort } from "../../base/support/index.ts";

export interface SseMessage {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: string;
}

/** An event of a session may hold a whole file. Anything larger than this is not an event of ours. */
const MAX_FRAME = 64 * 1024 * 1024;

/**
 * `heard` is called with every chunk that arrives, including comments. The signal cancels the body itself: when it was
 * only passed to `fetch`, a reader on Node 20 under memory pressure was seen to wait forever.
 */
export async function* readMessages(
  body: ReadableStream<Uint8Array>,
  heard: () => void,
  signal: AbortSignal,
): AsyncGenerator<SseMessage> {
  const reader = body.getReader();
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  const forget = onAbort(signal, cancel);
  if (signal.aborted) cancel();
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return; // a frame not closed by an empty line was cut off
      heard();
      text += decoder.decode(value, { stream: true });
      let end = text.indexOf("\n\n");
      while (end !== -1) {
        const message = messageFrom(text.slice(0, end));
        text = text.slice(end + 2);
        if (message !== undefined) yield message;
        end = text.indexOf("\n\n");
      }
      if (text.length > MAX_FRAME)
        throw codedError("stream_limit", "the server sent an event that never ends");
    }
  } finally {
    forget();
    await reader.cancel().catch(() => undefined); // it may already be broken
  }
}

function messageFrom(frame: string): SseMessage | undefined {
  let event = "message";
  let id: string | undefined;
  const data: string[] = [];
  for (const line of frame.split("\n")) {
    const colon = line.indexOf(":");
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") data.push(value);
    else if (field === "event") event = value;
    else if (field === "id") id = value;
  }
  return data.length === 0 ? undefined : { event, id, data: data.join("\n") };
}
