import { type AddressInfo, createServer } from "node:net";
import { createServer as createTlsServer } from "node:tls";

import { describe, expect, test } from "vitest";

import { afterTest } from "../support/clean-up.ts";
import { ownPort } from "../support/own-port.ts";
import { byHand, chunk, eventsOf } from "./support/by-hand.ts";
import { TALKERS } from "./support/talk.ts";
import { tls } from "./support/tls.ts";
import {
  answerBytes,
  ask,
  JSON_TYPE,
  openClient,
  openProxy,
  requestTo,
  startUpstream,
} from "./support/wire.ts";

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

  test("while it is held back for a refusal", async () => {
    const upstream = await byHand();
    const proxy = await openProxy({ to: upstream.origin });
    const payload = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAAA" };
    const input = [{ role: "user", content: "a" }, payload, { role: "assistant", content: "b" }];
    const body = JSON.stringify({ model: "m", stream: true, input });
    const client = openClient(proxy.port, requestTo(proxy.port, "/v1/responses", { body }));
    await upstream.request(0);
    upstream.first().end(chunk('event: response.created\ndata: {"type":"response.created"}\n\n'));
    const got = await client.answer;
    expect([got.whole, upstream.requests.length]).toEqual([false, 1]);
  });

  test("in the middle of a refusal", async () => {
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
    expect([got.whole, upstream.requests.length]).toEqual([false, 1]);
  });
});

const reason = (body: Buffer): unknown => (JSON.parse(body.toString()) as { readonly error: unknown }).error;

describe("an upstream that cannot be reached", () => {
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
