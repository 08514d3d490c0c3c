/** Servers that do not speak the Responses API, that never answer, or that answer with malice. */

import { expect, test } from "vitest";

import { emulatorUrl, KEY, proxyUrl, refusingUrl, run, serverUrl, withResult } from "./run-conform.ts";

const failing = (url: string, options = {}): Promise<unknown> =>
  run(url, options).then(
    (report) => report.counts,
    (error: unknown) => error,
  );

test("a web page instead of an API ends the run with an error", async () => {
  for (const status of [200, 404, 502]) {
    const url = await serverUrl((_request, response) => {
      response.writeHead(status, { "content-type": "text/html" }).end("<html><body>Welcome</body></html>");
    });
    expect(await failing(url)).toMatchObject({
      code: "not_an_api",
      message: expect.stringContaining("Welcome"),
    });
  }
});

test("a redirect is not followed with a key", async () => {
  let followed = 0;
  const elsewhere = await serverUrl((_request, response) => {
    followed += 1;
    response.end();
  });
  const url = await serverUrl((_request, response) => {
    response.writeHead(307, { location: `${elsewhere}/responses` }).end();
  });
  expect(await failing(url)).toMatchObject({ code: "not_an_api" });
  expect(followed).toBe(0);
});

test("a server that never answers costs one time-out", async () => {
  let requests = 0;
  const url = await serverUrl(() => {
    requests += 1;
  });
  expect(await failing(url, { timeoutMs: 300 })).toMatchObject({ code: "timeout" });
  expect(requests).toBeLessThanOrEqual(1); // none, if this machine was too busy to see it arrive
});

test("a server that keeps sending without content is stopped too", async () => {
  const url = await serverUrl((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const timer = setInterval(() => response.write(": still here\n\n"), 10);
    response.on("close", () => clearInterval(timer));
  });
  expect(await failing(url, { timeoutMs: 150 })).toMatchObject({ code: "timeout" });
});

test("a server that closes at once, and a missing one, end the run with an error", async () => {
  const url = await serverUrl((request) => request.socket.destroy());
  expect(await failing(url)).toMatchObject({ code: "connection_lost" });
  expect(await failing("http://127.0.0.1:1/v1")).toMatchObject({ code: "connect_refused" });
});

test("a wrong key and an unknown model end the run before it starts", async () => {
  const url = await emulatorUrl();
  expect(await failing(url, { apiKey: "sk-wrong-one" })).toMatchObject({ code: "api_key_refused" });
  expect(await failing(url, { model: "unknown-model" })).toMatchObject({ code: "model_not_found" });
});

test("a key that the server quotes is not passed on", async () => {
  const url = await refusingUrl((request) => `You sent ${request.headers.authorization}`);
  const report = await run(url, { only: ["request"] });
  expect(JSON.stringify(report)).toContain("You sent Bearer [key]");
  expect(JSON.stringify(report)).not.toContain(KEY);
  const refused = await serverUrl((request, response) => {
    response.writeHead(401).end(`{"error":{"message":"bad ${request.headers.authorization}"}}`);
  });
  const error = await failing(refused);
  expect(error).toMatchObject({
    code: "api_key_refused",
    message: expect.stringContaining("bad Bearer [key]") as string,
  });
});

test("a short key is redacted where it is a separate word, and changes no other word", async () => {
  const url = await refusingUrl(() => "expected a, got (a.b) and a.b-c");
  const seenWith = async (apiKey: string): Promise<string> =>
    (await run(url, { apiKey, only: ["request.store"] })).results[0]?.seen ?? "";
  expect(await seenWith("a")).toContain("expected [key], got ([key].b) and [key].b-c");
  expect(await seenWith("a.b")).toContain("expected a, got ([key]) and a.b-c");
});

test("a long text is shown only in part", async () => {
  const url = await refusingUrl(() => "x".repeat(6 * 1024 * 1024));
  const { results } = await run(url, { only: ["request.store"] });
  expect(results.map(({ result, seen }) => [result, seen.length])).toEqual([["differs", 600]]);
});

test("a server that refuses even the smallest request ends the run before it starts", async () => {
  const url = await serverUrl((_request, response) => {
    response.writeHead(400).end('{"error":{"message":"no streams here"}}');
  });
  expect(await failing(url)).toMatchObject({
    code: "request_refused",
    message:
      "the server refuses the smallest possible request: HTTP 400, code null, param null: no streams here",
  });
});

test("if the unbroken history is refused, a break proves nothing and is skipped", async () => {
  const real = await emulatorUrl();
  const url = await proxyUrl(
    real,
    (text) => text,
    (body) => body.includes("function_call_output"),
  );
  const { results } = await run(url, {
    only: ["refuses.missing-output", "refuses.missing-call", "tools.round-trip"],
  });
  expect(results.map(({ id, result }) => [id, result])).toEqual([
    ["tools.round-trip", "differs"],
    ["refuses.missing-output", "skipped"],
    ["refuses.missing-call", "skipped"],
  ]);
});

test("the same refusal with another text differs, and both texts are shown", async () => {
  const real = await emulatorUrl();
  const url = await proxyUrl(real, (text) =>
    text.replace("No tool output found for", "There is no output of"),
  );
  const report = await run(url, { only: ["refuses.missing-output", "refuses.missing-call"] });
  expect(report.results.map(({ id, result }) => [id, result])).toEqual([
    ["refuses.missing-output", "differs"],
    ["refuses.missing-call", "holds"],
  ]);
  const [own] = report.results;
  expect(own?.expected).toContain("HTTP 400, code null, param input: No tool output found for function call");
  expect(own?.seen).toContain(
    "refused in its own way: HTTP 400, code null, param input: There is no output of",
  );
  expect(own?.facts).toMatchObject({ accepted: false });
});

test("a busy server is waited for", async () => {
  const url = await emulatorUrl({
    faults: Array.from({ length: 2 }, () => ({
      type: "http" as const,
      status: 429,
      headers: { "retry-after": "0" },
    })),
  });
  const report = await run(url, { only: ["answer.object"] });
  expect(withResult(report, "holds")).toEqual(["answer.object"]);
  const busy = await serverUrl((_request, response) => {
    response.writeHead(429).end('{"error":{"message":"slow down"}}');
  });
  expect(await failing(busy)).toMatchObject({ code: "rate_limited" });
});

test("a run stopped in the middle of a probe does not blame the server", async () => {
  const stopping = new AbortController();
  let requests = 0;
  const url = await serverUrl((_request, response) => {
    requests += 1;
    if (requests === 3) stopping.abort(new Error("stopped"));
    if (requests < 3) {
      const event = '{"type":"response.output_item.added","output_index":0,"item":{}}';
      response.writeHead(200, { "content-type": "text/event-stream" }).end(`data: ${event}\n\n`);
    }
  });
  const report = await run(url, { signal: stopping.signal });
  expect(report).toMatchObject({
    stopped: true,
    conforms: false,
    counts: { holds: 1, differs: 0, skipped: 0, error: 0 },
  });
});

test("a stopped run reports the results so far, and says that it was stopped", async () => {
  const stopping = new AbortController();
  const report = await run(await emulatorUrl(), {
    signal: stopping.signal,
    onResult: (_result, done) => {
      if (done === 5) stopping.abort(new Error("stopped"));
    },
  });
  expect(report.stopped).toBe(true);
  expect(report.results.length).toBe(5);
});
