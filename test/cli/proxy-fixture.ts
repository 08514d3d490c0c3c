/** The proxy as a process, the emulator behind it, and a client that loses its thoughts. */

import { expect } from "vitest";

import type { Emulator } from "../../src/emulator/index.ts";
import {
  emulatorOf,
  type EmulatorSetup,
  KEY,
  type Place,
  type Running,
  start,
  type StartOptions,
} from "./harness.ts";

export interface ProxyRun extends Running {
  /** As printed. */
  readonly url: string;
}

/** Runs until the test ends it. */
export async function proxying(
  place: Place,
  args: readonly string[],
  options: StartOptions = {},
): Promise<ProxyRun> {
  const port = args.includes("--port") ? [] : ["--port", "0"];
  const running = start(place, ["proxy", ...port, ...args], options);
  await running.seen(({ out, err }) => out.endsWith("\n") && err.includes("ledger: "), "an address");
  return Object.assign(running, { url: running.out.trim() });
}

/** An emulator and a proxy in front of it, at the root. */
export async function proxyOf(
  place: Place,
  args: readonly string[] = [],
  setup: EmulatorSetup = {},
): Promise<{ readonly emulator: Emulator; readonly proxy: ProxyRun }> {
  const { emulator } = await emulatorOf({ paceMs: 0, ...setup });
  return { emulator, proxy: await proxying(place, ["--to", emulator.url, ...args]) };
}

export async function stopped(running: Running, signal: NodeJS.Signals = "SIGINT"): Promise<void> {
  running.kill(signal);
  await running.ended;
}

export interface Posted {
  readonly status: number;
  /** What the proxy says it did. */
  readonly told: string | null;
  readonly text: string;
}

type Headers = Readonly<Record<string, string>>;

export async function post(base: string, body: unknown, headers: Headers = {}): Promise<Posted> {
  const response = await fetch(`${base}/v1/responses`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${KEY}`,
      "user-agent": "lossy/1.2",
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return {
    status: response.status,
    told: response.headers.get("x-throughline"),
    text: await response.text(),
  };
}

const HEAD = { model: "emu-reasoner", store: false, include: ["reasoning.encrypted_content"] };

/** Two turns. The second sends back everything of the first but its thought. Every topic is another conversation. */
export async function lossyTurns(
  base: string,
  topic: string,
  headers: Headers = {},
): Promise<readonly Posted[]> {
  const question = { role: "user", content: `Think of a number. The topic is ${topic}.` };
  const first = await post(base, { ...HEAD, input: [question] }, headers);
  expect(first.status, first.text).toBe(200);
  const { output } = JSON.parse(first.text) as { readonly output: readonly { readonly type: string }[] };
  const kept = output.filter(({ type }) => type !== "reasoning");
  expect(kept.length).toBeLessThan(output.length);
  const second = { ...HEAD, input: [question, ...kept, { role: "user", content: "Which one?" }] };
  return [first, await post(base, second, headers)];
}

/** A request that the strict API refuses: its call has no output. */
export const UNANSWERED_CALL = {
  ...HEAD,
  input: [
    { role: "user", content: "Look it up." },
    { type: "function_call", call_id: "call_1", name: "look_up", arguments: "{}" },
    { role: "user", content: "Go on." },
  ],
};

/** For localhost, by itself, for a hundred years. */
export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUTvxyE3IPQvCQXbhDDYTogmy3OJUwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTExODA0NDQxNVoYDzIxMjYxMDI1
MDQ0NDE1WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAScSC6rGMQhoQ1jujIpbYqNDm13lk5n1TZGdalgk2xNymjsVS2pZJyr
p337UOXuRUCYzY1WU9r4vRb0GLRqUzg5o28wbTAdBgNVHQ4EFgQUCg//biJSr1UQ
7H6qJK1Kz8/1390wHwYDVR0jBBgwFoAUCg//biJSr1UQ7H6qJK1Kz8/1390wDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSAAwRQIhALw3cI5yvsDGdETQEHpUUWzUTlN3iJh3jq6B5E3AwL8CAiAs
CkepEFnke00xeLH5XbGYXHrFEFvlKX/7DTmLBEJ2TQ==
-----END CERTIFICATE-----
`;

export const CERTIFICATE_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg7pQQx5lh48l83Ybm
of5iIGNU8rGoaX/7bsG3gX+CDC+hRANCAAScSC6rGMQhoQ1jujIpbYqNDm13lk5n
1TZGdalgk2xNymjsVS2pZJyrp337UOXuRUCYzY1WU9r4vRb0GLRqUzg5
-----END PRIVATE KEY-----
`;
