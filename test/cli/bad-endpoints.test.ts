/** Endpoints that refuse, mislead or do not exist: a coded error, exit 1, and the same error in the log. */

import { describe, expect, test } from "vitest";

import { flood, HINT, rawServer, SWITCH } from "../support/raw-server.ts";
import {
  emulatorOf,
  eventsOf,
  expectFailedTurn,
  KEY,
  newPlace,
  onlyLog,
  pointedAt,
  run,
  serverOf,
  start,
} from "./harness.ts";

test("a wrong key is refused with a coded error", async () => {
  const place = newPlace();
  const { emulator, env } = await emulatorOf({ accounts: { "sk-right-0000": "org-a" } });
  const last = await expectFailedTurn(place, await run(place, ["-p", "hi"], { env }), "invalid_api_key");
  expect(last).toContain("Incorrect API key provided");
  expect(last).not.toContain(KEY);
  expect(emulator.report().totals.requests).toBeLessThanOrEqual(1); // refused once, not retried
});

test("a model that does not exist is refused with a coded error", async () => {
  const place = newPlace();
  const { env } = await emulatorOf();
  const ran = await run(place, ["-p", "hi", "-m", "openai/unknown-model"], { env });
  expect(await expectFailedTurn(place, ran, "model_not_found")).toContain("unknown-model");
});

test("an endpoint that does not listen is retried with announced waits, then given up", async () => {
  const place = newPlace();
  // Not a port that was just released: the system gives it to the next process.
  const ran = await run(place, ["-p", "hi"], { env: pointedAt("http://127.0.0.1:1/v1") });
  expect(await expectFailedTurn(place, ran, "connect_refused")).toContain("is a server running there?");
  expect(ran.err.match(/retrying in/g)).toHaveLength(3);
  const { events } = await onlyLog(place);
  expect(eventsOf(events, "response_start").map(({ step, attempt }) => [step, attempt])).toEqual([
    [1, 1],
    [1, 2],
    [1, 3],
    [1, 4],
  ]);
  expect(eventsOf(events, "response_end").map(({ status }) => status)).toEqual(["cut", "cut", "cut", "cut"]);
});

describe("a server that does not speak the API", () => {
  test.for([200, 404])("answers %d with a web page", async (status) => {
    const place = newPlace();
    let asked = 0;
    const baseUrl = await serverOf((_request, response) => {
      asked += 1;
      response.writeHead(status, { "content-type": "text/html; charset=utf-8" });
      response.end("<!doctype html><html><title>Sign in</title><script>alert(1)</script></html>");
    });
    const ran = await run(place, ["-p", "hi"], { env: pointedAt(baseUrl) });
    expect(await expectFailedTurn(place, ran, "not_an_api")).toContain("check the base URL");
    expect(ran.err).not.toContain("<script>");
    expect(asked).toBe(1);
  });

  test("redirects: the key is not sent along", async () => {
    const place = newPlace();
    const followed: string[] = [];
    const elsewhere = await serverOf((request, response) => {
      followed.push(request.headers.authorization ?? "");
      response.end();
    });
    const baseUrl = await serverOf((_request, response) => {
      response.writeHead(307, { location: `${elsewhere}/responses` });
      response.end();
    });
    const ran = await run(place, ["-p", "hi"], { env: pointedAt(baseUrl) });
    expect(await expectFailedTurn(place, ran, "redirected")).toContain(elsewhere);
    expect(followed).toEqual([]);
  });

  test("refuses with a body that is not JSON: its beginning is shown, on one line", async () => {
    const place = newPlace();
    const baseUrl = await serverOf((_request, response) => {
      response.writeHead(403, { "content-type": "text/plain" });
      response.end("blocked by\nthe proxy \u001B[31mred");
    });
    const ran = await run(place, ["-p", "hi"], { env: pointedAt(baseUrl) });
    const last = await expectFailedTurn(place, ran, "http_403");
    expect(last).toContain("status 403: blocked by the proxy \u241B[31mred");
    expect(ran.err).not.toContain("\u001B");
  });
});

test("--json reports a failed turn as its last line, and writes nothing to stderr", async () => {
  const place = newPlace();
  const { env } = await emulatorOf({ accounts: {} });
  const ran = await run(place, ["-p", "--json", "hi"], { env });
  expect(ran).toMatchObject({ code: 1, err: "" });
  expect(JSON.parse(ran.out.trimEnd().split("\n").at(-1) ?? "")).toMatchObject({
    type: "result",
    status: "failed",
    text: "",
    error: { code: "invalid_api_key", class: "FATAL", status: 401 },
  });
});

describe("a server that does not speak HTTP properly", () => {
  test("switches protocols: the turn fails at once and says what to check", async () => {
    const place = newPlace();
    const server = await rawServer((socket) => void socket.write(SWITCH));
    const ran = await run(place, ["-p", "hi"], { env: pointedAt(`${server.origin}/v1`) });
    expect(await expectFailedTurn(place, ran, "bad_response")).toContain("check the base URL");
    expect(server.requests()).toBe(1);
  });

  test.for([
    ["says nothing", ""],
    ["floods with 103", HINT],
    ["says half a head", "HTTP/1.1 101 Switch"],
  ] as const)("%s: Ctrl-C cancels the turn and ends the process", async ([, text]) => {
    const place = newPlace();
    const server = await rawServer((socket) => {
      if (text === HINT) flood(socket, text);
      else socket.write(text);
    });
    const running = start(place, ["-p", "hi"], { env: pointedAt(`${server.origin}/v1`) });
    await expect.poll(() => server.requests()).toBe(1);
    running.kill("SIGINT");
    expect(await running.ended).toMatchObject({ code: 130, signal: null, out: "" });
    const { events } = await onlyLog(place);
    expect(eventsOf(events, "turn_end").map(({ status }) => status)).toEqual(["cancelled"]);
  });
});
