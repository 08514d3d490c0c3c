import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, afterEach, expect, test } from "vitest";

import { type Emulator, startEmulator } from "../../src/emulator/index.ts";
import { createAgent, fileStore, openai, tool } from "../../src/index.ts";

/** What SECURITY.md promises about keys and files, tested from outside. */

const folder = mkdtempSync(join(tmpdir(), "throughline-security-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const open: (Emulator | Server)[] = [];
afterEach(() => {
  for (const one of open.splice(0)) void one.close();
});

async function emulator(): Promise<Emulator> {
  const started = await startEmulator();
  open.push(started);
  return started;
}

function forms(key: string): string {
  return `${key} ${encodeURIComponent(key)} ${Buffer.from(key).toString("base64")}`;
}

function mode(path: string): number {
  return statSync(path).mode & 0o777;
}

const OWN_KEY = "key-of-the-session/1234";
const TURN_KEY = "key-of-one-turn/5678";
const FURTHER = "a further secret value";

test("keys of every model a session used, and other secrets, are redacted from tool output in three forms", async () => {
  const { baseUrl } = await emulator();
  const leak = tool({
    name: "get_weather",
    description: "The weather of a city",
    input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    access: "read",
    run: () => [OWN_KEY, TURN_KEY, FURTHER].map(forms).join(" | "),
  });
  const agent = createAgent({
    model: openai("emu-reasoner", { baseUrl, apiKey: OWN_KEY }),
    tools: [leak],
    secrets: [FURTHER],
  });
  const session = await agent.open({ id: "secrets", store: fileStore(folder) });
  await session
    .send("What is the weather in Paris?", { model: openai("emu-reasoner", { baseUrl, apiKey: TURN_KEY }) })
    .result();
  const results: string[] = [];
  for await (const event of session.events()) if (event.type === "tool_result") results.push(event.text);
  await session.close();
  const one = "[redacted] [redacted] [redacted]";
  expect(results).toEqual([`${one} | ${one} | ${one}`]);
  const log = readFileSync(join(folder, "secrets.jsonl"), "utf8");
  for (const key of [OWN_KEY, TURN_KEY, FURTHER]) expect(log).not.toContain(key);
});

test("a log is readable by its owner only, even if its mode had been widened", async () => {
  const { baseUrl } = await emulator();
  const store = fileStore(join(folder, "modes"));
  const agent = createAgent({ model: openai("emu-reasoner", { baseUrl, apiKey: OWN_KEY }) });
  const session = await agent.open({ id: "modes", store });
  await session.send("Hello").result();
  await session.close();
  expect(mode(join(folder, "modes"))).toBe(0o700);
  expect(mode(join(folder, "modes/modes.jsonl"))).toBe(0o600);
  chmodSync(join(folder, "modes/modes.jsonl"), 0o644);
  await (await agent.open({ id: "modes", store, mode: "read" })).close();
  expect(mode(join(folder, "modes/modes.jsonl"))).toBe(0o600);
});

test("a redirect is not followed, and the key is sent nowhere else", async () => {
  const seen: string[] = [];
  const elsewhere = createServer((request, response) => {
    seen.push(request.headers.authorization ?? "");
    response.end();
  });
  await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
  const { port: to } = elsewhere.address() as AddressInfo;
  const redirecting = createServer((_request, response) => {
    response.writeHead(307, { location: `http://127.0.0.1:${to}/v1/responses` }).end();
  });
  await new Promise<void>((resolve) => redirecting.listen(0, "127.0.0.1", resolve));
  open.push(elsewhere, redirecting);
  const { port } = redirecting.address() as AddressInfo;
  const model = openai("gpt-5.6", { baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: OWN_KEY });
  const session = await createAgent({ model }).open();
  const { status, error } = await session.send("Hello").result();
  await session.close();
  expect({ status, code: error?.code, seen }).toEqual({ status: "failed", code: "redirected", seen: [] });
});

test("the emulator listens on loopback", async () => {
  expect((await emulator()).url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
});
