/**
 * A server as a child process: one JSON message per line on its standard input and output. It runs in a process group of
 * its own, so that a key that stops the terminal's program does not reach it and closing ends all that it started.
 * Loaded only together with the client package.
 *
 * States: started → closed (by us, by its exit, or because a message is too large). `onclose` is called once.
 */

import { AsyncLocalStorage } from "node:async_hooks";
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import type { Readable, Writable } from "node:stream";

import {
  deserializeMessage,
  type JSONRPCMessage,
  serializeMessage,
  type Transport,
} from "@modelcontextprotocol/client";

import { childEnvironment, endGroup, isGroupAlive, trackGroup } from "../tools/index.ts";
import { ListTap } from "./list-tap.ts";
import type { StdioServer } from "./server-config.ts";

/** The largest message a server may send. */
const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;
const STDERR_BYTES = 8 * 1024;
/** How long a server may take to end by itself, and after SIGTERM. */
const PATIENCE_MS = 2000;
const GRACE_MS = 3000;
/** What a process wrote before it ended is still read. */
const DRAIN_MS = 200;

/** The system calls a missing folder and a missing program by the same code. */
const NO_FOLDER = (folder: string): string => `there is no folder ${folder} to start it in`;

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

export class StdioTransport implements Transport {
  readonly tap = new ListTap();
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Lines of the server that are no messages. */
  droppedLines = 0;
  /** Requests without an answer. What an answer leads to belongs to the call that asked, not to the process. */
  readonly #asked = new Map<unknown, (work: () => void) => void>();
  readonly #server: StdioServer;
  readonly #cwd: string;
  #child: Child | undefined;
  #line: Buffer[] = [];
  #lineBytes = 0;
  #stderr = "";
  #closed = false;
  #closing: Promise<void> | undefined;
  #problem: string | undefined;
  #untrack: (() => void) | undefined;
  #exit: Promise<void> | undefined;
  /** Resolves when the process has ended and all that it wrote was read. */
  #drained: Promise<unknown> = Promise.resolve();

  constructor(server: StdioServer, cwd: string) {
    this.#server = server;
    this.#cwd = cwd;
  }

  /** The package tells transports like this one by these two members. */
  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** The end of what the server wrote to its standard error. */
  get stderr(): string {
    return this.#stderr;
  }

  /** Why the connection was closed, if the server did not just end. */
  get problem(): string | undefined {
    return this.#problem;
  }

  async start(): Promise<void> {
    if (this.#closed) throw new Error("the connection was closed before it began");
    const { command, args = [], env = {} } = this.#server;
    const child = spawn(command, args, {
      cwd: this.#cwd,
      env: { ...childEnvironment(process.env), ...env },
      stdio: ["pipe", "pipe", "pipe"],
      detached: process.platform !== "win32",
      windowsHide: true,
    });
    this.#child = child;
    child.stdin.on("error", (error) => this.onerror?.(error));
    child.stdout.on("data", (chunk: Buffer) => this.#read(chunk));
    child.stdout.on("error", (error) => this.onerror?.(error));
    child.stderr.on("data", (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString("utf8")).slice(-STDERR_BYTES);
    });
    child.stderr.on("error", () => undefined);
    child.once("close", () => this.#ended());
    this.#drained = new Promise((resolve) => child.once("close", resolve));
    child.once("exit", () => {
      this.#exit = this.#exited(child);
    });
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", (error) => reject(existsSync(this.#cwd) ? error : new Error(NO_FOLDER(this.#cwd))));
    });
    child.on("error", (error) => this.onerror?.(error));
    if (child.pid !== undefined) this.#untrack = trackGroup(child.pid);
  }

  send(message: JSONRPCMessage): Promise<void> {
    this.tap.outgoing(message);
    if ("method" in message && "id" in message) this.#asked.set(message.id, AsyncLocalStorage.snapshot());
    return new Promise((resolve, reject) => {
      const stdin = this.#child?.stdin;
      if (stdin === undefined || this.#closed || !stdin.writable) {
        reject(new Error("the server has ended"));
        return;
      }
      stdin.write(serializeMessage(message), (error) =>
        error === null || error === undefined ? resolve() : reject(error),
      );
    });
  }

  /** If the process has exited: resolves when it is known whether the connection has ended with it. */
  async settled(): Promise<void> {
    await this.#exit;
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    const child = this.#child;
    this.#closed = true;
    if (child?.pid === undefined) {
      this.#ended();
      return;
    }
    const { pid } = child;
    child.stdin.end();
    const ended = new Promise<void>((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) resolve();
      else child.once("exit", () => resolve());
    });
    await Promise.race([ended, sleep(PATIENCE_MS)]);
    await endGroup(pid, GRACE_MS);
    // Its last words often say why it ended.
    await Promise.race([this.#drained, sleep(DRAIN_MS)]);
    child.stdout.destroy();
    child.stderr.destroy();
    this.#ended();
  }

  /** A runner such as npx may end before the server that it started; then the pipes stay open and the server goes on. */
  async #exited(child: Child): Promise<void> {
    await sleep(DRAIN_MS);
    if (this.#closed || child.pid === undefined || (await isGroupAlive(child.pid))) return;
    child.stdout.destroy();
    this.#ended();
  }

  #ended(): void {
    this.#untrack?.();
    this.#untrack = undefined;
    this.#closed = true;
    const tell = this.onclose;
    delete this.onclose;
    tell?.();
  }

  #read(chunk: Buffer): void {
    if (this.#closed) return;
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      this.#take(Buffer.concat([...this.#line, chunk.subarray(from, end)]).toString("utf8"));
      this.#line = [];
      this.#lineBytes = 0;
      from = end + 1;
    }
    const rest = chunk.subarray(from);
    if (rest.length === 0) return;
    this.#line.push(rest);
    this.#lineBytes += rest.length;
    if (this.#lineBytes <= MAX_MESSAGE_BYTES) return;
    this.#line = [];
    this.#problem = `it sent a message of more than ${MAX_MESSAGE_BYTES / 1024 / 1024} MiB`;
    void this.close();
    this.#ended();
  }

  #take(line: string): void {
    if (line.trim() === "") return;
    let message: JSONRPCMessage;
    try {
      message = deserializeMessage(line);
    } catch {
      this.droppedLines += 1;
      return;
    }
    const tell = (): void => this.onmessage?.(this.tap.incoming(message));
    const id = "method" in message ? undefined : message.id;
    const within = this.#asked.get(id);
    this.#asked.delete(id);
    if (within === undefined) tell();
    else within(tell);
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
