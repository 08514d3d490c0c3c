/**
 * Reads lines of text from a stream. Rejects if the stream breaks off in the middle of a line: half a history is
 * useless.
 */

import { type ThroughlineError, codedError } from "../../base/support/index.ts";

export async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        throw cut(error);
      });
      if (done) break;
      text += decoder.decode(value, { stream: true });
      const lines = text.split("\n");
      text = lines.pop() ?? "";
      yield* lines;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
  if (text !== "") throw cut();
}

function cut(cause?: unknown): ThroughlineError {
  return codedError("stream_cut", "the connection ended in the middle of the server's answer", cause);
}
