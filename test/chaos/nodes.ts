/** The node processes: each behind its own proxy, on its own port, started again after every end. */

import { type ChildProcess, spawn } from "node:child_process";
import { openSync } from "node:fs";
import { join } from "node:path";

import { ownPort } from "../support/own-port.ts";
import type { ChildPlan } from "./child-plan.ts";
import { FaultyProxy } from "./faulty-proxy.ts";
import type { Ledger } from "./ledger.ts";
import type { Random } from "./random.ts";

const HOUR_MS = 3_600_000;
/** How long a node may take to start or to leave while the machine is busy. */
const PATIENCE_MS = 30_000;

export interface NodeParts {
  readonly name: string;
  readonly bundle: string;
  readonly ledger: Ledger;
  readonly random: Random;
  readonly token: string;
  readonly leaseMs: number;
  readonly drainMs: number;
  /** The port of the database server now; a promotion changes it. */
  readonly databasePort: () => number;
  /** A port that always leads there, for the tools. */
  readonly toolsPort: number;
}

/** `up` takes requests, `stopped` sleeps by SIGSTOP, `down` has no process or is starting or leaving. */
export type NodeState = "up" | "stopped" | "down";

export class ChaosNode {
  readonly #parts: NodeParts;
  readonly proxy: FaultyProxy;
  #port = 0;
  #child: ChildProcess | undefined;
  #exited: Promise<unknown> = Promise.resolve();
  /** Ends that the run caused. Any other end is a violation. */
  #isEnding = false;
  #isOver = false;
  state: NodeState = "down";

  constructor(parts: NodeParts) {
    this.#parts = parts;
    this.proxy = new FaultyProxy(parts.databasePort);
  }

  get name(): string {
    return this.#parts.name;
  }

  get token(): string {
    return this.#parts.token;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async open(): Promise<void> {
    await this.proxy.listen();
    this.#port = await ownPort();
    await this.start();
  }

  async start(): Promise<void> {
    const { name, bundle, ledger, random, token, leaseMs, drainMs, toolsPort } = this.#parts;
    const clockShiftMs = random.pick([-HOUR_MS, 0, HOUR_MS]);
    const plan: ChildPlan = {
      name,
      storeUrl: `postgres://postgres@127.0.0.1:${this.proxy.port}/postgres`,
      toolsUrl: `postgres://postgres@127.0.0.1:${toolsPort}/postgres`,
      port: this.#port,
      token,
      leaseMs,
      drainMs,
      clockShiftMs,
      acks: join(ledger.folder, `acks-${name}.txt`),
      ran: join(ledger.folder, `ran-${name}.txt`),
    };
    const errors = openSync(join(ledger.folder, `stderr-${name}.txt`), "a");
    const child = spawn(
      process.execPath,
      ["--enable-source-maps", "--trace-warnings", bundle, JSON.stringify(plan)],
      {
        stdio: ["pipe", "pipe", errors],
      },
    );
    this.#child = child;
    this.#isEnding = false;
    const exited = new Promise<void>((resolve) => {
      child.on("exit", (code, signal) => {
        if (this.#child === child) this.state = "down";
        if (!this.#isEnding)
          ledger.violate(`node ${name} ended by itself (${code ?? signal}); see stderr-${name}.txt`);
        resolve();
      });
    });
    this.#exited = exited;
    const ready = new Promise<void>((resolve) => {
      child.stdout?.on("data", (chunk: Buffer) => {
        if (chunk.toString().includes("ready")) resolve();
      });
    });
    await Promise.race([ready, exited]);
    ledger.note(`${name} runs as ${child.pid} (clock ${clockShiftMs / HOUR_MS} h)`);
    if (this.#child === child && child.exitCode === null && !this.#isEnding) this.state = "up";
  }

  async kill(): Promise<void> {
    await this.#end("SIGKILL");
    await this.#again();
  }

  /** Stops the process for a while. Resolves when it goes on. */
  async stop(ms: number): Promise<void> {
    const child = this.#child;
    this.state = "stopped";
    child?.kill("SIGSTOP");
    await new Promise((resolve) => setTimeout(resolve, ms));
    child?.kill("SIGCONT");
    if (this.state === "stopped") this.state = "up";
  }

  /** Asks the process to leave, and starts another one. */
  async term(): Promise<void> {
    const began = performance.now();
    const { ledger, name } = this.#parts;
    const late = setTimeout(() => {
      ledger.violate(`node ${name} did not leave within ${PATIENCE_MS} ms after SIGTERM`);
      this.#child?.kill("SIGKILL");
    }, PATIENCE_MS);
    await this.#end("SIGTERM");
    clearTimeout(late);
    const ms = Math.round(performance.now() - began);
    ledger.note(`${name} left within ${ms} ms`);
    ledger.write("drain-ms.txt", String(ms));
    await this.#again();
  }

  async close(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    this.#isOver = true;
    const late = setTimeout(() => this.#child?.kill("SIGKILL"), PATIENCE_MS);
    await this.#end(signal);
    clearTimeout(late);
    this.proxy.close();
  }

  async #end(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    this.#isEnding = true;
    this.state = "down";
    this.#child?.kill(signal);
    await this.#exited;
  }

  async #again(): Promise<void> {
    if (!this.#isOver) await this.start();
  }
}
