/**
 * A fetch that stops the clock when it is given the bytes of a request, keeps them, and answers with a word. Every adapter
 * but the floor is given it for the rows that end with the request.
 *
 * @module
 */
import { scenario } from "../load/scenarios.mjs";

export function captureFetch() {
  const [{ bytes }] = scenario("tiny").answers;
  const sent = { stop: undefined, body: undefined };
  const fetch = async (url, init) => {
    const body = init?.body ?? (url instanceof Request ? await url.text() : "");
    // Text still has to become bytes: where a client leaves that to fetch, it is done here.
    sent.body = typeof body === "string" ? Buffer.from(body) : body;
    sent.stop();
    return new Response(bytes, { headers: { "content-type": "text/event-stream" } });
  };
  return { fetch, sent };
}
