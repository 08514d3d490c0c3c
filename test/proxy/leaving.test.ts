import { EventEmitter, once } from "node:events";

import { describe, expect, test } from "vitest";

import { byHand, chunk, closed, eventsOf } from "./support/by-hand.ts";
import { chat, messages, responses, type Talker, TALKERS } from "./support/talk.ts";
import {
  answerBytes,
  ask,
  JSON_TYPE,
  openClient,
  openProxy,
  requestTo,
  startUpstream,
} from "./support/wire.ts";

/** An event that carries some of the visible text. */
const TOKEN = /output_text\.delta|text_delta|"content":"[^"]/;

describe("when the client leaves, the upstream is ended at once", () => {
  test.for([...TALKERS.map(({ path }) => path), "/v1/models"])(
    "%s: before the answer begins",
    async (path) => {
      const upstream = await startUpstream(() => undefined);
      const proxy = await openProxy({ to: upstream.origin });
      const client = openClient(
        proxy.port,
        requestTo(proxy.port, path, { body: '{"model":"m","input":"a","messages":[]}' }),
      );
      await upstream.request(0);
      client.socket.destroy();
      await closed(upstream.sockets[0]);
    },
  );

  test.for(TALKERS)("$name: while tokens come, and nothing of the answer is remembered", async (talker) => {
    const events = await eventsOf(talker);
    const upstream = await byHand();
    const proxy = await openProxy({ to: upstream.origin });
    const first = talker.body([{ user: "a" }], true);
    const client = openClient(proxy.port, requestTo(proxy.port, talker.path, { body: first }));
    await upstream.request(0);
    const text = events.slice(0, events.findIndex((event) => TOKEN.test(event)) + 2).join("");
    upstream.first().write(chunk(text));
    await client.body(Buffer.byteLength(text));
    client.socket.destroy();
    await closed(upstream.first());
    const next = talker.body(
      [{ user: "a" }, { model: talker.heard(events.join(""), true).text }, { user: "b" }],
      true,
    );
    await ask(proxy.port, requestTo(proxy.port, talker.path, { body: next }));
    expect(upstream.requests.map(({ body }) => body.toString())).toEqual([first, next]);
  });

  test("while a piped upload is under way", async () => {
    const upstream = await startUpstream(() => undefined);
    const proxy = await openProxy({ to: upstream.origin });
    const client = openClient(
      proxy.port,
      requestTo(proxy.port, "/v1/files", { headers: [["Content-Length", "1000"]] }),
    );
    client.socket.write("half");
    while (upstream.sockets.length === 0) await new Promise((resolve) => setImmediate(resolve));
    client.socket.destroy();
    await closed(upstream.sockets[0]);
    expect(upstream.requests).toEqual([]);
  });

  test("while a body is read: nothing is sent", async () => {
    const upstream = await startUpstream(answerBytes("200 OK", [JSON_TYPE], "{}"));
    const proxy = await openProxy({ to: upstream.origin });
    const client = openClient(
      proxy.port,
      requestTo(proxy.port, "/v1/responses", { headers: [["Content-Length", "1000"]] }),
    );
    client.socket.end("half");
    await closed(client.socket);
    await ask(proxy.port, requestTo(proxy.port, "/v1/responses", { body: '{"input":"a"}' }));
    expect(upstream.requests.map(({ body }) => body.toString())).toEqual(['{"input":"a"}']);
  });
});

/** The events after which every item is complete. */
const ENDS: readonly (readonly [name: string, talker: Talker, end: RegExp])[] = [
  ["responses", responses, /response\.completed/],
  ["messages", messages, /event: message_delta/],
  ["chat", chat, /\[DONE\]/],
];

describe("when the client leaves an answer that lacks only its end", () => {
  test.for(ENDS)("%s: the answer is remembered", async ([, talker, end]) => {
    const events = await eventsOf(talker);
    const at = events.findIndex((event) => end.test(event));
    const upstream = await byHand();
    const told = new EventEmitter();
    const ended = once(told, "line");
    const proxy = await openProxy({ to: upstream.origin, onExchange: (line) => told.emit("line", line) });
    const client = openClient(
      proxy.port,
      requestTo(proxy.port, talker.path, { body: talker.body([{ user: "a" }], true) }),
    );
    await upstream.request(0);
    const text = events.slice(0, at).join("");
    upstream.first().write(chunk(text));
    await client.body(Buffer.byteLength(text));
    client.socket.destroy();
    await closed(client.socket);
    // One turn of the proxy, so that it knows.
    await ask(proxy.port, requestTo(proxy.port, "/__throughline/health", { method: "GET" }));
    upstream.first().write(Buffer.concat([chunk(events.slice(at).join("")), Buffer.from("0\r\n\r\n")]));
    expect(await ended).toMatchObject([{ recorded: true }]);
    const { text: said, thought } = talker.heard(events.join(""), true);
    const next = talker.body([{ user: "a" }, { model: said }, { user: "b" }], true);
    await ask(proxy.port, requestTo(proxy.port, talker.path, { body: next }));
    expect(upstream.requests.at(-1)?.body.toString()).toContain(thought);
  });

  test("an end that does not come is not awaited for ever", async () => {
    const events = await eventsOf(responses);
    const upstream = await byHand();
    const proxy = await openProxy({ to: upstream.origin });
    const client = openClient(
      proxy.port,
      requestTo(proxy.port, responses.path, { body: responses.body([{ user: "a" }], true) }),
    );
    await upstream.request(0);
    const text = events.slice(0, -1).join("");
    upstream.first().write(chunk(text));
    await client.body(Buffer.byteLength(text));
    client.socket.destroy();
    await closed(upstream.first());
    // Without its end it is no answer.
    const { text: said } = responses.heard(events.join(""), true);
    const next = responses.body([{ user: "a" }, { model: said }, { user: "b" }], true);
    await ask(proxy.port, requestTo(proxy.port, responses.path, { body: next }));
    expect(upstream.requests.at(-1)?.body.toString()).toBe(next);
  });
});
