/**
 * A login on an authorization server of the test: a file of logins in a folder of its own, a clock that the test moves, and
 * a browser that follows the link at once.
 *
 * @module
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Clock } from "../../../src/base/support/index.ts";
import type { OAuthClientOptions } from "../../../src/runtime/mcp/index.ts";
import { McpOAuth, McpSource, TokenFile } from "../../../src/runtime/mcp/loaded.ts";
import type { Tool, ToolOutcome } from "../../../src/runtime/tools/index.ts";
import { afterTest } from "../../support/clean-up.ts";
import { type Authorization, startAuthorization } from "./authorization-server.ts";

/** A clock that stands still until the test moves it. Its sleepers wake when their time has come. */
export class HandClock implements Clock {
  #now = Date.UTC(2026, 0, 1);
  readonly #sleepers = new Set<{ readonly until: number; readonly wake: () => void }>();

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const sleeper = { until: this.#now + ms, wake: resolve };
      this.#sleepers.add(sleeper);
      signal?.addEventListener("abort", () => {
        this.#sleepers.delete(sleeper);
        reject(signal.reason as Error);
      });
    });
  }

  /** How many wait for at least this long. */
  waiting(ms: number): number {
    return [...this.#sleepers].filter(({ until }) => until - this.#now >= ms).length;
  }

  move(ms: number): void {
    this.#now += ms;
    for (const sleeper of this.#sleepers) {
      if (sleeper.until > this.#now) continue;
      this.#sleepers.delete(sleeper);
      sleeper.wake();
    }
  }
}

export interface LoginFixture {
  readonly at: Authorization;
  readonly clock: HandClock;
  readonly path: string;
  readonly tokens: TokenFile;
  readonly oauth: McpOAuth;
  readonly source: McpSource;
  /** The links that the browser followed. */
  readonly links: string[];
  /** Logs in as a person would. */
  readonly login: () => Promise<void>;
  readonly state: () => string | undefined;
  readonly tool: () => Tool;
  readonly call: () => Promise<string>;
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "throughline-login-"));
  afterTest(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export async function loginFixture(client: OAuthClientOptions = {}): Promise<LoginFixture> {
  const at = await startAuthorization();
  const clock = new HandClock();
  const path = join(temporaryFolder(), "state", "mcp-logins.json");
  const tokens = new TokenFile(path);
  const oauth = new McpOAuth({ name: "docs", url: at.mcp, tokens, client, clock });
  const source = new McpSource({
    servers: { docs: { url: at.mcp } },
    host: { cwd: ".", clock, authProvider: () => oauth },
    secrets: () => oauth.secrets(),
  });
  afterTest(() => source.close());
  const links: string[] = [];
  const tool = (): Tool => {
    const [first] = source.tools;
    if (first === undefined) throw new Error("the server has no tools yet");
    return first;
  };
  return {
    at,
    clock,
    path,
    tokens,
    oauth,
    source,
    links,
    login: () => oauth.login({ openLink: (link) => follow(link, links) }),
    state: () => source.servers[0]?.state,
    tool,
    call: async () => {
      const outcome = (await tool().run(
        {},
        {
          signal: new AbortController().signal,
          callId: "call_1",
          idempotencyKey: "key_1",
          progress: () => undefined,
        },
      )) as ToolOutcome;
      return outcome.text;
    },
  };
}

/** A browser without a person. */
export async function follow(link: string, links: string[] = []): Promise<void> {
  links.push(link);
  const response = await fetch(link);
  await response.text();
}

/** The code and the message of the error that it throws. */
export async function failureOf(
  work: () => unknown,
): Promise<{ readonly code: string; readonly message: string }> {
  try {
    await work();
  } catch (error) {
    const { code = "", message } = error as Error & { readonly code?: string };
    return { code, message };
  }
  throw new Error("it did not fail");
}
