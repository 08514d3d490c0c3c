/** A `fetch` whose answers are bounded: a server cannot fill the memory of this process. */

export type FetchLike = (url: string | URL, init?: RequestInit) => Promise<Response>;

const MAX_BYTES = 32 * 1024 * 1024;
const TOO_LARGE = `it sent an answer of more than ${MAX_BYTES / 1024 / 1024} MiB`;
/** Answers that cannot have a body. */
const EMPTY: ReadonlySet<number> = new Set([101, 204, 205, 304]);

export interface AnswerListener {
  /** An answer is larger than the limit, and was cut off. */
  onTooLarge(problem: string): void;
  /** The request with this id is answered by a stream of events. */
  onStream(id: unknown): void;
}

export function boundedAnswer(inner: FetchLike, listener: AnswerListener): FetchLike {
  return async (url, init) => {
    const response = await inner(url, init);
    const id = init?.method === "POST" ? requestId(init.body) : undefined;
    if (id !== undefined && (response.status === 202 || response.status === 204))
      throw new Error("the server accepted the request and gave no answer");
    const { body, status } = response;
    if (body === null || EMPTY.has(status)) return response;
    const isStream = response.headers.get("content-type")?.includes("text/event-stream") === true;
    if (isStream && id !== undefined) listener.onStream(id);
    const limited = body.pipeThrough(limiter(isStream, (problem) => listener.onTooLarge(problem)));
    return new Response(limited, { status, statusText: response.statusText, headers: response.headers });
  };
}

/** Of a stream, each event is bounded; of any other answer, the whole. */
function limiter(
  isStream: boolean,
  onTooLarge: (problem: string) => void,
): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      const end = isStream ? endOfEvent(chunk) : -1;
      bytes = end === -1 ? bytes + chunk.length : chunk.length - end;
      if (bytes > MAX_BYTES) {
        onTooLarge(TOO_LARGE);
        controller.error(new Error(TOO_LARGE));
        return;
      }
      controller.enqueue(chunk);
    },
  });
}

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/** The index after the last empty line, or -1. An empty line that two chunks share is missed; the next one counts. */
function endOfEvent(chunk: Uint8Array): number {
  for (let at = chunk.lastIndexOf(LINE_FEED); at > 0; at = chunk.lastIndexOf(LINE_FEED, at - 1)) {
    const before = chunk[at - 1] === CARRIAGE_RETURN ? at - 2 : at - 1;
    if (before >= 0 && chunk[before] === LINE_FEED) return at + 1;
  }
  return -1;
}

/** Undefined for a notification or an answer. */
function requestId(body: unknown): unknown {
  if (typeof body !== "string") return undefined;
  const message = JSON.parse(body) as { readonly id?: unknown; readonly method?: unknown };
  return message.method === undefined ? undefined : message.id;
}
