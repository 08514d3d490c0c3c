import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";

import { describe, expect, test } from "vitest";

import type { ExchangeLine } from "../../src/proxy/relay/index.ts";
import { afterTest } from "../support/clean-up.ts";
import { ownPort } from "../support/own-port.ts";
import { inChunks } from "./support/http-bytes.ts";
import { ownStreams } from "./support/streams.ts";
import { chat, messages, responses, type Talker, TALKERS } from "./support/talk.ts";
import { tls } from "./support/tls.ts";
import {
  answerBytes,
  ask,
  JSON_TYPE,
  openClient,
  openProxy,
  requestTo,
  SSE_TYPE,
  startUpstream,
  type Upstream,
} from "./support/wire.ts";

const CHUNKED = ["Transfer-Encoding", "chunked"] as const;
const SSE_HEAD = answerBytes("200 OK", [SSE_TYPE, CHUNKED]);
const chunk = (text: string): Buffer => inChunks(Buffer.from(text), Number.MAX_SAFE_INTEGER).subarray(0, -5);

const closed = async (socket: Socket | undefined): Promise<void> => {
  if (socket !== undefined && !socket.destroyed) await once(socket, "close");
};

/** The text answer of a dialect, event by event. */
async function eventsOf({ name }: Talker): Promise<readonly string[]> {
  const found = (await ownStreams()).find((one) => one.name === `${name}, a text`);
  return (found?.bytes.toString("utf8") ?? "").split(/(?<=\n\n)/);
}

/** An upstream whose first answer is sent by hand, and which then answers with plain JSON. */
async function byHand(head: Buffer = SSE_HEAD): Promise<Upstream & { readonly first: () => Socket }> {
  const upstream = await startUpstream((socket, _request, nth) => {
    socket.write(nth === 0 ? head : answerBytes("200 OK", [JSON_TYPE], "{}"));
  });
  return Object.assign(upstream, { first: () => upstream.sockets[0] as Socket });
}

describe("an answer that the upstream breaks off is broken off for the client", () => {
  test.for(TALKERS)("$name: in the middle of a stream", async (talker) => {
    const events = await eventsOf(talker);
    for (const how of ["destroy", "resetAndDestroy", "end"] as const) {
      const upstream = await byHand();
      const proxy = await openProxy({ to: upstream.origin });
      const client = openClient(
        proxy.port,
        requestTo(proxy.port, talker.path, { body: talker.body([{ user: "a" }], true) }),
      );
      await upstream.request(0);
      const text = events.slice(0, 3).join("");
      upstream.first().write(chunk(text));
      await client.body(Buffer.byteLength(text));
      upstream.first()[how]();
      const got = await client.answer;
      expect([got.status, got.whole, got.body.toString()]).toEqual([200, false, text]);
      expect(upstream.requests).toHaveLength(1);
    }
  });

  test.for(["/v1/responses", "/v1/models"])("%s: in the middle of a plain body", async (path) => {
    const upstream = await startUpstream((socket) => {
      socket.write(answerBytes("200 OK", [JSON_TYPE, ["Content-Length", "100"]], '{"half":'), () =>
        socket.destroy(),
      );
    });
    const proxy = await openProxy({ to: upstream.origin });
    const got = await ask(proxy.port, requestTo(proxy.port, path, { body: '{"model":"m","input":"a"}' }));
    expect([got.status, got.whole, upstream.requests.length]).toEqual([200, false, 1]);
  });

  test("in the middle of a refusal: the client does not get another status", async () => {
    const upstream = await startUpstream((socket) => {
      socket.write(answerBytes("400 Bad Request", [JSON_TYPE, ["Content-Length", "100"]], '{"error":'), () =>
        socket.destroy(),
      );
    });
    const proxy = await openProxy({ to: upstream.origin });
    const got = await ask(
      proxy.port,
      requestTo(proxy.port, "/v1/responses", { body: '{"model":"m","input":"a"}' }),
    );
    expect([got.status, got.whole, upstream.requests.length]).toEqual([400, false, 1]);
  });
});

describe("an upstream that cannot be reached", () => {
  const reason = (body: Buffer): unknown =>
    (JSON.parse(body.toString()) as { readonly error: unknown }).error;

  test.for(["/v1/responses", "/v1/models"])("%s: 502, with what is wrong and where", async (path) => {
    const port = await ownPort();
    const proxy = await openProxy({ to: `http://127.0.0.1:${port}` });
    const got = await ask(proxy.port, requestTo(proxy.port, path, { body: '{"input":"a"}' }));
    expect(got.status).toBe(502);
    expect(reason(got.body)).toEqual({
      type: "throughline_proxy",
      code: "upstream_unreachable",
      message: expect.stringMatching(
        new RegExp(`http://127\\.0\\.0\\.1:${port}.*nothing listens there`),
      ) as string,
    });
  });

  test.for(["/v1/responses", "/v1/models"])("%s: a host without an address", async (path) => {
    const proxy = await openProxy({ to: "http://throughline.invalid" });
    const got = await ask(proxy.port, requestTo(proxy.port, path, { body: '{"input":"a"}' }));
    expect([got.status, reason(got.body)]).toEqual([
      502,
      expect.objectContaining({ code: "upstream_unreachable" }),
    ]);
  });

  test.for(["/v1/responses", "/v1/models"])(
    "%s: a certificate that is not trusted is named, and nothing is sent",
    async (path) => {
      let bytes = 0;
      const server = createTlsServer(tls, (socket) => {
        socket.on("data", (data: Buffer) => (bytes += data.length)).on("error", () => undefined);
      }).on("tlsClientError", () => undefined);
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      afterTest(() => server.close());
      const proxy = await openProxy({ to: `https://127.0.0.1:${(server.address() as AddressInfo).port}` });
      const got = await ask(
        proxy.port,
        requestTo(proxy.port, path, { headers: [["authorization", "Bearer sk-a"]], body: '{"input":"a"}' }),
      );
      expect(got.status).toBe(502);
      expect(reason(got.body)).toMatchObject({
        code: "upstream_unreachable",
        message: expect.stringMatching(/certificate.*NODE_EXTRA_CA_CERTS/s) as string,
      });
      expect(bytes).toBe(0);
    },
  );

  test.for(["/v1/responses", "/v1/models"])(
    "%s: one that speaks no HTTP, no TLS, or closes without a word",
    async (path) => {
      const speaks = await startUpstream((socket) => socket.end("SSH-2.0-OpenSSH_9.9\r\n"));
      const silent = await startUpstream((socket) => socket.destroy());
      // As a web server without TLS answers its handshake.
      const plain = createServer((socket) => {
        socket
          .once("data", () => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"))
          .on("error", () => undefined);
      });
      await new Promise<void>((resolve) => plain.listen(0, "127.0.0.1", resolve));
      afterTest(() => plain.close());
      for (const to of [
        speaks.origin,
        silent.origin,
        `https://127.0.0.1:${(plain.address() as AddressInfo).port}`,
      ]) {
        const proxy = await openProxy({ to });
        const got = await ask(proxy.port, requestTo(proxy.port, path, { body: '{"input":"a"}' }));
        expect([got.status, reason(got.body)]).toEqual([
          502,
          expect.objectContaining({ code: "upstream_unreachable" }),
        ]);
      }
      expect([speaks.requests.length, silent.requests.length]).toEqual([1, 1]);
    },
  );

  test("a kept connection that closes before a byte of the answer is opened once more; after a byte it is not", async () => {
    for (const [bytes, attempts, status] of [
      ["", 2, 200],
      ["HTTP/1.1 200 OK\r\nx-a:", 1, 502],
    ] as const) {
      const times = new Map<string, number>();
      const upstream = await startUpstream((socket, { body }) => {
        const nth = (times.get(body.toString()) ?? 0) + 1;
        times.set(body.toString(), nth);
        if (body.includes("second") && nth === 1) socket.end(bytes);
        else socket.write(answerBytes("200 OK", [JSON_TYPE], "{}"));
      });
      const proxy = await openProxy({ to: upstream.origin });
      await ask(proxy.port, requestTo(proxy.port, "/v1/responses", { body: '{"input":"first"}' }));
      const got = await ask(
        proxy.port,
        requestTo(proxy.port, "/v1/responses", { body: '{"input":"second"}' }),
      );
      expect([got.status, times.get('{"input":"second"}')]).toEqual([status, attempts]);
    }
  });
});

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
    let tell: (line: ExchangeLine) => void = () => undefined;
    const ended = new Promise<ExchangeLine>((resolve) => (tell = resolve));
    const proxy = await openProxy({ to: upstream.origin, onExchange: (line) => tell(line) });
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
    expect(await ended).toMatchObject({ recorded: true });
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
  });
});
