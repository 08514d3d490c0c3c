/**
 * A fetch that stops the clock when it gets the bytes of a request, keeps them, and returns a short answer. Every adapter
 * except the floor uses it for the rows that end with the request.
 *
 * @module
 */
import { scenario } from "../load/scenarios.mjs";

export function captureFetch() {
  const [{ bytes }] = scenario("tiny").answers;
  const sent = { stop: undefined, body: undefined };
  const fetch = async (url, init) => {
    const body = init?.body ?? (url instanceof Request ? await url.text() : "");
    // A client that passes text leaves the encoding to fetch, so it is done here.
    sent.body = typeof body === "string" ? Buffer.from(body) : body;
    sent.stop();
    return new Response(bytes, { headers: { "content-type": "text/event-stream" } });
  };
  return { fetch, sent };
}
