import { describe, expect, test, vi } from "vitest";

import { type ExchangeLine } from "../../src/proxy/relay/index.ts";
import { temporaryFolder } from "../contracts/file-fixture.ts";
import { contentOf } from "./support/folder-content.ts";
import { type Header, valuesOf } from "./support/http-bytes.ts";
import {
  answerBytes,
  type Answer,
  ask,
  JSON_TYPE,
  openProxy,
  requestTo,
  startUpstream,
} from "./support/wire.ts";

describe("a token", () => {
  const token = "tok-4b1d8c0e7f";

  test("is needed, in its header or in front of the path, and is found nowhere else", async () => {
    const upstream = await startUpstream(
      answerBytes("200 OK", [JSON_TYPE], '{"id":"resp_1","status":"completed","output":[]}'),
    );
    const ledger = temporaryFolder();
    const lines: ExchangeLine[] = [];
    const proxy = await openProxy({
      routes: { up: upstream.origin, off: "http://127.0.0.1:9" },
      token,
      ledger,
      onExchange: (line) => lines.push(line),
    });
    const told = vi.spyOn(process.stderr, "write");
    const body = '{"model":"m","input":"a"}';
    const post = (target: string, headers: readonly Header[] = []): Promise<Answer> =>
      ask(proxy.port, requestTo(proxy.port, target, { headers, body }));
    const header: readonly Header[] = [["X-Throughline-Token", token]];
    const good = [
      await post("/up/v1/responses", header),
      await post(`/t/${token}/up/v1/responses`),
      await post(`/t/${token}/up/v1/responses`, header),
      await post(`/t/${token}/up/v1/files?a=1`),
    ];
    expect(good.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const others = [
      await post(`/t/${token}/none/v1`),
      await post(`/t/${token}`),
      await post(`/t/${token}/off/v1/responses`),
      await post(`/t/${token}/off/v1/files`),
    ];
    expect(others.map(({ status }) => status)).toEqual([404, 404, 502, 502]);
    const bad = [
      await post("/up/v1/responses"),
      await post("/t/other/up/v1/responses"),
      await post(`/t/${token}x/up/v1/responses`),
      await post(`/t/${token.slice(1)}/up/v1/responses`),
      await post("/t//up/v1/responses"),
      await post(`/up/t/${token}/v1/responses`),
      await post(`/up/v1/responses?token=${token}`),
      await post("/up/v1/responses", [["X-Throughline-Token", "other"]]),
      await post("/up/v1/responses", [["X-Throughline-Token", ""]]),
      await post("/up/v1/responses", [["Authorization", `Bearer ${token}`]]),
    ];
    expect(bad.map(({ status }) => status)).toEqual(bad.map(() => 401));
    expect(upstream.requests.map(({ start }) => start)).toEqual([
      ...Array.from({ length: 3 }, () => "POST /v1/responses HTTP/1.1"),
      "POST /v1/files?a=1 HTTP/1.1",
    ]);
    await proxy.close();
    const seen = [
      ...upstream.requests.map(
        ({ start, headers, body: sent }) => `${start} ${JSON.stringify(headers)} ${sent.toString()}`,
      ),
      ...[...good, ...others, ...bad].map(
        (answer) => `${answer.start} ${JSON.stringify(answer.headers)} ${answer.body.toString()}`,
      ),
      JSON.stringify(lines),
      JSON.stringify(proxy.problems),
      JSON.stringify(told.mock.calls),
      contentOf(ledger),
    ];
    expect(seen.filter((text) => text.includes(token))).toEqual([]);
  });

  test("is not needed for the health, which tells nothing else", async () => {
    const proxy = await openProxy({ to: "http://127.0.0.1:9", token });
    const got = await ask(proxy.port, requestTo(proxy.port, "/__throughline/health", { method: "GET" }));
    expect([got.status, JSON.parse(got.body.toString())]).toEqual([200, { status: "ok", mode: "repair" }]);
  });

  test("addresses of the proxy itself never reach an upstream", async () => {
    const upstream = await startUpstream(answerBytes("200 OK", [JSON_TYPE], "{}"));
    const proxy = await openProxy({ to: upstream.origin });
    for (const path of ["/__throughline/health?a=1", "/__throughline/", "/__throughline/exchanges"])
      await ask(proxy.port, requestTo(proxy.port, path, { method: "GET" }));
    expect(upstream.requests.map(({ start }) => start)).toEqual([]);
  });
});

describe("a key of the client", () => {
  const key = "sk-canary-0f3a91b7c5";

  /** Everything that a proxy with a ledger tells or keeps of some exchanges. */
  async function traces(answers: readonly Buffer[]): Promise<Readonly<Record<string, string>>> {
    let answer = answers[0] ?? Buffer.alloc(0);
    const upstream = await startUpstream((socket) => socket.write(answer));
    const ledger = temporaryFolder();
    const lines: ExchangeLine[] = [];
    const proxy = await openProxy({
      routes: { up: upstream.origin, off: "http://127.0.0.1:9" },
      ledger,
      onExchange: (line) => lines.push(line),
    });
    const told = vi.spyOn(process.stderr, "write");
    const got: Answer[] = [];
    const body = `{"model":"m","input":[{"type":"reasoning","id":"rs_1","summary":[]},{"role":"user","content":"a"}],"messages":[{"role":"user","content":"a"}]}`;
    for (answer of answers)
      for (const path of [
        "/up/v1/responses",
        "/up/v1/messages",
        `/up/v1/responses?key=${key}`,
        "/off/v1/responses",
        "/off/v1/files",
      ])
        for (const name of NAMES) {
          const headers: readonly Header[] = [
            [name, name === "authorization" ? `Bearer ${key}` : key],
            ["cookie", `session=${key}`],
          ];
          got.push(await ask(proxy.port, requestTo(proxy.port, path, { headers, body })));
        }
    const carried = upstream.requests.filter(({ headers }) =>
      NAMES.some((name) => valuesOf(headers, name).join().includes(key)),
    );
    expect(carried).toHaveLength(upstream.requests.length);
    await proxy.close();
    return {
      answers: got
        .map(({ headers, body: sent }) => `${JSON.stringify(headers)} ${sent.toString()}`)
        .join("\n"),
      lines: JSON.stringify(lines),
      problems: JSON.stringify(proxy.problems),
      stderr: JSON.stringify(told.mock.calls),
      files: contentOf(ledger),
    };
  }
  const NAMES = ["authorization", "x-api-key", "api-key", "x-goog-api-key"];
  const holding = (seen: Readonly<Record<string, string>>): readonly string[] =>
    Object.keys(seen).filter((name) => seen[name]?.includes(key));

  test("goes to its upstream, and is in no file, line, problem or answer", async () => {
    const seen = await traces([
      answerBytes(
        "200 OK",
        [JSON_TYPE, ["openai-organization", "org-canary-77"]],
        '{"id":"resp_1","status":"completed","output":[{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"hi"}]}]}',
      ),
      answerBytes("401 Unauthorized", [JSON_TYPE], '{"error":{"message":"Incorrect API key provided"}}'),
      answerBytes("500 Internal Server Error", [], "x"),
      answerBytes(
        "400 Bad Request",
        [JSON_TYPE],
        '{"error":{"message":"Item \'rs_1\' of type \'reasoning\' was provided without its required following item.","param":"input"}}',
      ),
    ]);
    expect(holding(seen)).toEqual([]);
    expect(seen["files"]).not.toContain("org-canary-77");
  });

  test("is not kept if the provider repeats it in a refusal", async () => {
    const error = {
      message: `Item 'rs_1' of type 'reasoning' was provided without its required following item (key ${key}).`,
      param: "input",
    };
    const seen = await traces([answerBytes("400 Bad Request", [JSON_TYPE], JSON.stringify({ error }))]);
    expect(holding(seen)).toEqual(["answers"]);
  });
});
