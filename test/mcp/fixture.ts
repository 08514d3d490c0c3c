/** Servers, sources and sessions for the tests of MCP. Everything is closed after the test. */

import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { systemClock } from "../../src/base/support/index.ts";
import { type Emulator, loadScenario, startEmulator } from "../../src/emulator/index.ts";
import {
  type Agent,
  type AgentOptions,
  createAgent,
  type Model,
  openai,
  type Session,
  type Store,
} from "../../src/index.ts";
import type { EraMemory, McpServerConfig } from "../../src/runtime/mcp/index.ts";
import { mcpSource } from "../../src/runtime/mcp/loaded.ts";
import type { ToolContext, ToolOutcome, ToolSource } from "../../src/runtime/tools/index.ts";
import { temporaryFolder } from "../contracts/file-fixture.ts";
import { KEY, type ScriptStep } from "../contracts/session-fixture.ts";
import { afterTest } from "../support/clean-up.ts";

export const ROOT = resolve(import.meta.dirname, "../..");

/** A server of this folder, started with Node. */
export function stdio(program: string, plan: object = {}, more: object = {}): McpServerConfig {
  const path = join(import.meta.dirname, "servers", program);
  return { command: process.execPath, args: [path, JSON.stringify(plan)], ...more };
}

/** Servers whose era is known are not asked for it, which saves a process. */
export function knownEras(era: "legacy" | "modern"): EraMemory {
  return { isLegacy: () => era === "legacy", remember: () => undefined };
}

export interface SourceOptions {
  readonly eras?: EraMemory;
  /** The clock that counts restarts. Default: one on which a minute passes between any two readings. */
  readonly monotonic?: () => number;
  readonly fetch?: (url: string | URL, init?: RequestInit) => Promise<Response>;
}

let minutes = 0;

/** Without `monotonic`, any number of restarts is allowed. */
export function source(
  servers: Readonly<Record<string, McpServerConfig>>,
  { eras, monotonic = () => (minutes += 61_000), fetch }: SourceOptions = {},
): ToolSource {
  const made = mcpSource({
    servers,
    host: { cwd: ROOT, clock: { ...systemClock, monotonic }, eras, fetch },
  });
  afterTest(() => made.close());
  return made;
}

export interface Counted {
  readonly counter: string;
  readonly lives: string;
  /** While this file is there, the next start dies in its handshake. */
  readonly doom: string;
  /** How often the call with this number took effect. */
  executions(id: number): number;
  /** The process ids of all starts, in order. */
  pids(): readonly number[];
}

function linesIn(file: string): readonly string[] {
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
}

export function counted(): Counted {
  const folder = temporaryFolder();
  const counter = join(folder, "counter.txt");
  const lives = join(folder, "lives.txt");
  appendFileSync(counter, "");
  appendFileSync(lives, "");
  return {
    counter,
    lives,
    doom: join(folder, "doom.txt"),
    executions: (id) => linesIn(counter).filter((line) => line === String(id)).length,
    pids: () => linesIn(lives).map(Number),
  };
}

export interface Talk {
  readonly emulator: Emulator;
  readonly agent: Agent;
  readonly session: Session;
  readonly store: Store | undefined;
}

/** A session whose model plays the script and has the tools of the source. */
export async function talk(
  script: readonly ScriptStep[] | undefined,
  tools: readonly (ToolSource | NonNullable<AgentOptions["tools"]>[number])[],
  more: {
    readonly model?: (baseUrl: string) => Model;
    readonly store?: Store;
    readonly id?: string;
    readonly emulator?: Emulator;
    readonly agent?: Partial<AgentOptions>;
  } = {},
): Promise<Talk> {
  const emulator = more.emulator ?? (await startScripted(script));
  const { baseUrl } = emulator;
  const model = more.model?.(baseUrl) ?? openai("emu-reasoner", { apiKey: KEY, baseUrl });
  const agent = createAgent({ model, tools: [...tools], permissions: "auto", ...more.agent });
  const session = await agent.open({
    id: more.id ?? "s1",
    ...(more.store === undefined ? {} : { store: more.store }),
  });
  afterTest(() => session.close());
  return { emulator, agent, session, store: more.store };
}

export async function startScripted(script: readonly ScriptStep[] | undefined): Promise<Emulator> {
  const scenario =
    script === undefined
      ? {}
      : { scenario: loadScenario(JSON.stringify({ steps: script, afterwards: "model" }), "test.json") };
  const emulator = await startEmulator(scenario);
  afterTest(() => emulator.close());
  return emulator;
}

/** Every request that a strict emulator refused. */
export function refusals(emulator: Emulator): readonly unknown[] {
  return emulator.report().requests.filter(({ verdict }) => verdict !== "accepted");
}

/** Calls a tool of the source without a session. */
export async function callTool(
  from: ToolSource,
  name: string,
  input: unknown,
  context: Partial<ToolContext> = {},
): Promise<ToolOutcome> {
  const found = from.tools.find((tool) => tool.name === name);
  if (found === undefined) throw new Error(`no tool ${name}: ${from.tools.map((one) => one.name).join()}`);
  const whole = {
    signal: new AbortController().signal,
    progress: () => undefined,
    ...context,
  } as unknown as ToolContext;
  return (await found.run(input, whole)) as ToolOutcome;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.startsWith("Z") !== true;
  } catch {
    return false;
  }
}

/** Resolves when the condition holds. It is a fact of another process, so it can only be looked at again. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resume) => setTimeout(resume, 5));
}
