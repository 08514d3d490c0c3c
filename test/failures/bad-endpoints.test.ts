/**
 * Endpoints that are not what they should be, in every dialect: one coded error that says what to change, and a usable
 * log.
 */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { afterEach, describe, expect, test } from "vitest";

import { connect } from "../../src/access/client/index.ts";
import { startEmulator } from "../../src/emulator/index.ts";
import {
  anthropic,
  createAgent,
  memoryStore,
  type Model,
  modelFrom,
  openai,
  openaiChat,
} from "../../src/index.ts";
import { instantClock } from "../support/instant-clock.ts";

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function serve(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    handle(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

interface Asked {
  readonly status: string;
  readonly code: string | undefined;
  readonly message: string;
  /** The types of the events in the log besides the failed turn. */
  readonly log: readonly string[];
}

async function ask(model: Model): Promise<Asked> {
  const agent = createAgent({ model, clock: instantClock(), limits: { maxRetries: 1 } });
  const session = await agent.open({ store: memoryStore() });
  const { status, error } = await session.send("Hello").result();
  const log: string[] = [];
  for await (const event of session.events()) log.push(event.type);
  await session.close();
  return { status, code: error?.code, message: error?.message ?? "", log };
}

type Make = (baseUrl: string, apiKey?: string) => Model;

/** The last of each list: a model that this endpoint does not have. */
const DIALECTS: readonly (readonly [string, Make, string, (url: string) => Model])[] = [
  [
    "openai",
    (url, apiKey = "k") => openai("emu-reasoner", { baseUrl: `${url}/v1`, apiKey }),
    "OPENAI_API_KEY",
    (url) => openai("emu-claude", { baseUrl: `${url}/v1`, apiKey: "right" }),
  ],
  [
    "anthropic",
    (baseUrl, apiKey = "k") => anthropic("emu-claude", { baseUrl, apiKey }),
    "ANTHROPIC_API_KEY",
    (url) => anthropic("emu-reasoner", { baseUrl: url, apiKey: "right" }),
  ],
  [
    "openaiChat",
    (url, apiKey = "k") => openaiChat("emu-deepseek", { baseUrl: `${url}/v1`, apiKey, profile: "deepseek" }),
    "DEEPSEEK_API_KEY",
    (url) => openaiChat("emu-claude", { baseUrl: `${url}/v1`, apiKey: "right" }),
  ],
];

const FAILED_TURN = /^session_start,user_message,title,settings,(?:response_start,response_end,)+turn_end$/;

describe.each(DIALECTS)("%s", (_name, make, keyName, elsewhere) => {
  test.each([
    ["a web page", 200, "text/html", "<html>Welcome</html>", /web page.*base URL/],
    ["a 404 page", 404, "text/html", "<html>Not found</html>", /web page.*base URL/],
    ["a 404 without a body", 404, "text/plain", "", /404/],
    ["a redirect", 302, "text/plain", "", /redirects to http:\/\/elsewhere\.test.*base URL/],
    [
      "a 401",
      401,
      "application/json",
      '{"error":{"message":"bad key","type":"authentication_error"}}',
      /bad key/,
    ],
    ["JSON of another kind", 200, "application/json", '{"hello":1}', /./],
    ["garbage in the stream", 200, "text/event-stream", "data: {{{\n\n", /./],
    ["an empty stream", 200, "text/event-stream", "", /ended before/],
  ])(
    "%s fails the turn with a code, and adds nothing else to the log",
    async (_what, status, type, body, said) => {
      const url = await serve((_request, response) => {
        response.writeHead(status, { "content-type": type, location: "http://elsewhere.test/" });
        response.end(body);
      });
      const asked = await ask(make(url));
      expect(asked.status).toBe("failed");
      expect(asked.code).toMatch(/^[a-z0-9_]+$/);
      expect(asked.message).toMatch(said);
      expect(asked.log.join(",")).toMatch(FAILED_TURN);
    },
  );

  test("an address that does not answer or resolve is reported with what to check", async () => {
    expect(await ask(make("http://127.0.0.1:9"))).toMatchObject({
      status: "failed",
      code: "connect_refused",
    });
    const nowhere = await ask(make("http://no-such-host.invalid"));
    expect(nowhere.status).toBe("failed");
    expect(nowhere.message).toMatch(/no-such-host\.invalid/);
  });

  test("a missing key is named before anything is sent", async () => {
    const missing = await ask(make("http://127.0.0.1:9", ""));
    expect(missing).toMatchObject({ status: "failed", code: "api_key_missing" });
    expect(missing.message).toContain(keyName);
  });

  test("a wrong key and an unknown model are refused in the API's own text", async () => {
    const emulator = await startEmulator({ accounts: { right: "org_1" } });
    closers.push(() => emulator.close());
    const url = emulator.baseUrl.replace(/\/v1$/, "");
    expect((await ask(make(url, "wrong"))).message).toMatch(/key/i);
    const unknown = await ask(elsewhere(url));
    expect(unknown).toMatchObject({ status: "failed", message: expect.stringMatching(/model|exist/i) });
    expect(unknown.log.join(",")).toMatch(FAILED_TURN);
  });
});

test.each([
  ["nobody/model", "model_invalid", /Providers: emulator, openai/],
  ["openai/", "model_invalid", /provider\/model/],
  ["gpt-5", "model_invalid", /provider\/model/],
  ["azure/gpt-5", "base_url_missing", /AZURE_OPENAI_BASE_URL/],
])("the name %s is refused with %s", (name, code, said) => {
  expect(() => modelFrom(name)).toThrow(
    expect.objectContaining({ code, message: expect.stringMatching(said) }),
  );
});

test.each([
  [{ profile: "nobody" }, "profile_unknown"],
  [{ effort: "enormous" }, "effort_unknown"],
  [{ baseUrl: "not a url" }, "base_url_invalid"],
  [{ baseUrl: "file:///etc" }, "base_url_invalid"],
  [{ baseUrl: "https://me:secret@a.test" }, "base_url_invalid"],
  [{ baseUrl: "https://a.test/v1?api_key=secret" }, "base_url_invalid"],
  [{ baseUrl: "https://a.test/v1?api-version=secret" }, "base_url_invalid"],
  [{ baseUrl: "https://a.test/v1#secret" }, "base_url_invalid"],
  [{ baseUrl: "secret" }, "base_url_invalid"],
])("%j is refused at once, in every dialect, and not repeated", (options, code) => {
  for (const make of [openai, anthropic, openaiChat]) {
    const message = expect.not.stringContaining("secret");
    expect(() => make("m", options as object)).toThrow(expect.objectContaining({ code, message }));
  }
});

test.each([
  "http://127.0.0.1:4319/?token=secret",
  "http://me:secret@127.0.0.1:4319",
  "http://127.0.0.1:4319/#secret",
  "http://me:secret@127.0.0.1:4319/login?code=1",
  "secret",
])("the server address %s is refused, and not repeated", async (address) => {
  await expect(connect(address)).rejects.toMatchObject({
    code: "server_url_invalid",
    message: expect.not.stringContaining("secret"),
  });
});
