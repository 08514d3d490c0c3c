/**
 * A fetch that a caller gives to a library: it reads the body of the request, as a transport would, and answers from
 * memory. It counts what was sent, so that the totals are checked as if there were a server.
 *
 * @module
 */
import { itemsSent } from "../load/items-sent.mjs";
import { scenario } from "../load/scenarios.mjs";

export function answeringFetch(name) {
  const { answers } = scenario(name);
  let requests = 0;
  let bytes = 0;
  let last = Buffer.alloc(0);
  const fetch = async (url, init) => {
    last = await bytesOf(init?.body ?? (url instanceof Request ? url.body : undefined));
    bytes += last.length;
    const answer = answers[requests % answers.length];
    requests += 1;
    return new Response(answer.bytes, { headers: { "content-type": "text/event-stream" } });
  };
  return { fetch, sent: () => ({ requests, bytes, ...itemsSent(last) }) };
}

/** Text is encoded and a stream is read, because a transport would have to do that. */
async function bytesOf(body) {
  if (body === undefined || body === null) return Buffer.alloc(0);
  if (typeof body === "string") return Buffer.from(body);
  if (ArrayBuffer.isView(body)) return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  if (body instanceof ArrayBuffer) return Buffer.from(body);
  if (body instanceof Blob) return Buffer.from(await body.arrayBuffer());
  const chunks = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}
