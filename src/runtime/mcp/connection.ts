/**
 * One MCP server as this process uses it. States: connecting → connected ⇄ lost, or failed. A server that is lost is
 * connected again at its next call, but not more than three times a minute. Its tools stay known meanwhile. A call is sent
 * at most once.
 */

import { AsyncLocalStorage } from "node:async_hooks";

import type { McpServerView } from "../../base/api/index.ts";
import {
  type Clock,
  inertLine,
  isObject,
  type JsonObject,
  stringOf,
  untilAborted,
} from "../../base/support/index.ts";
import { type ToolContext, type ToolOutcome, toolOutcome } from "../tools/index.ts";
import { outcomeOf } from "./call-result.ts";
import { elicit } from "./elicitation.ts";
import { type Lost, lostAfterBegin, lostOutcome } from "./lost-call.ts";
import type { OpenedClient, OpenOptions } from "./open-client.ts";
import type { McpServerConfig } from "./server-config.ts";
import { type McpToolDefinition, type ReadTools, readTools, serverText } from "./tool-definition.ts";

/** What the connections of one agent share. */
export interface ConnectionHost {
  readonly cwd: string;
  readonly clock: Clock;
  readonly fetch?: OpenOptions["fetch"];
  /** The login at a server: always the same object for the same server. Undefined for one that needs none. */
  readonly authProvider?:
    | ((name: string, server: McpServerConfig) => OpenOptions["authProvider"])
    | undefined;
  /** Whether a server is known to speak only the earlier era. Remembered, because some stay mute when they are asked. */
  readonly eras?: EraMemory | undefined;
}

export interface EraMemory {
  isLegacy(server: McpServerConfig): boolean;
  /** `era`: undefined if the server could not be connected, so that nothing is known of it any more. */
  remember(server: McpServerConfig, era: "legacy" | "modern" | undefined): void;
}

const CONNECT_MS = 10_000;
const MOST_RESTARTS = 3;
const RESTART_WINDOW_MS = 60_000;
const MAX_INSTRUCTIONS = 4 * 1024;
const PROGRESS_MS = 100;

type State =
  | { readonly name: "connecting" }
  | { readonly name: "connected"; readonly client: OpenedClient }
  | { readonly name: "lost" }
  | { readonly name: "failed"; readonly problem: string; readonly login: boolean }
  | { readonly name: "closed" };

interface RunningCall {
  readonly context: ToolContext;
  /** Whether the server has reported progress or asked something: then it has begun, whatever it says afterwards. */
  begun: boolean;
}

/** The call that what runs now belongs to. */
const CALL = new AsyncLocalStorage<RunningCall>();

export class Connection {
  readonly name: string;
  readonly server: McpServerConfig;
  readonly #host: ConnectionHost;
  readonly #closing = new AbortController();
  readonly #calls = new Set<RunningCall>();
  /** Clients that get no more calls, but may still have some. */
  readonly #retired = new Set<OpenedClient>();
  readonly #restarts: number[] = [];
  #state: State = { name: "lost" };
  #connecting: Promise<void> | undefined;
  #read: ReadTools | undefined;
  /** The server has said that its list is another one since it was last asked for it. */
  #isStale = false;
  #listing: OpenedClient | undefined;
  #instructions: string | undefined;
  #era: "legacy" | "modern" | undefined;
  #onChange: () => void = () => undefined;

  constructor(name: string, server: McpServerConfig, host: ConnectionHost) {
    this.name = name;
    this.server = server;
    this.#host = host;
  }

  /** The tools that the server listed last, in this process. Undefined until it has been connected. */
  get tools(): readonly McpToolDefinition[] | undefined {
    return this.#read?.tools;
  }

  get #login(): OpenOptions["authProvider"] {
    return this.#host.authProvider?.(this.name, this.server);
  }

  get instructions(): string | undefined {
    return this.#instructions;
  }

  get client(): OpenedClient | undefined {
    return this.#state.name === "connected" ? this.#state.client : undefined;
  }

  get view(): McpServerView {
    const { name, server } = this;
    const state = this.#state;
    const base = {
      name,
      transport: "url" in server ? ("http" as const) : ("stdio" as const),
      target: "url" in server ? new URL(server.url).origin : server.command,
      tools: this.#read?.tools.length ?? 0,
      toolNames: (this.#read?.tools ?? []).map(({ tool }) => tool),
      leftOut: this.#read?.problems ?? [],
      era: this.#era,
    };
    if (server.enabled === false) return { ...base, state: "disabled" };
    if (state.name === "failed")
      return { ...base, state: state.login ? "login_needed" : "failed", problem: state.problem };
    if (state.name === "closed" || state.name === "lost")
      return { ...base, state: "lost", problem: "the connection ended; its next call connects again" };
    return { ...base, state: state.name };
  }

  onChange(listener: () => void): void {
    this.#onChange = listener;
  }

  /** Resolves when the server is connected and its tools are known, or when that has failed. Never rejects. */
  connect(): Promise<void> {
    if (this.#state.name === "closed" || this.#state.name === "connected") return Promise.resolve();
    this.#connecting ??= this.#open().finally(() => {
      this.#connecting = undefined;
      this.#onChange();
    });
    return this.#connecting;
  }

  /** Connects again although it has failed before: a person asked for it. */
  async reconnect(): Promise<void> {
    this.#restarts.length = 0;
    const { client } = this;
    if (client !== undefined) {
      this.#set({ name: "lost" });
      await client.close().catch(() => undefined);
    }
    await this.connect();
  }

  async call(tool: string, input: JsonObject, context: ToolContext): Promise<ToolOutcome> {
    const client = await this.#connected(context.signal);
    if (client === undefined) return this.#unreachable();
    const definition = this.#read?.tools.find((one) => one.tool === tool);
    if (definition === undefined)
      return toolOutcome({
        status: "error",
        text: `the MCP server "${this.name}" no longer has the tool "${inertLine(tool, 100)}"; not executed`,
      });
    const running: RunningCall = { context, begun: false };
    this.#calls.add(running);
    try {
      const options = { signal: context.signal, onProgress: this.#progress(running) };
      const given = definition.wrapped ? inputOf(input) : input;
      const result = await CALL.run(running, () => client.call(definition.raw, given, options));
      return outcomeOf(result, definition.outputSchema);
    } catch (error) {
      if (context.signal.aborted) throw error;
      const lost = await this.#whyLost(client, error);
      if (lost.how === "refused" && lost.reconnect === true) await this.#drop(client);
      if (lost.how === "login") {
        this.#retired.add(client);
        this.#set({ name: "failed", problem: lost.why ?? "it needs a login", login: true });
      }
      return lostOutcome(this.name, running.begun ? lostAfterBegin(lost) : lost);
    } finally {
      this.#calls.delete(running);
      if (this.#calls.size === 0) void this.#closeRetired();
    }
  }

  /** The client, connected again if need be. Undefined if that fails. Reads may use it as well as calls. */
  async #connected(signal: AbortSignal): Promise<OpenedClient | undefined> {
    // A call to a process that has exited would be lost, although nothing can have run it.
    await this.client?.settled();
    if (this.client === undefined && this.#state.name !== "closed") {
      if (this.#connecting === undefined && !this.#mayRestart()) return undefined;
      await untilAborted(this.connect(), signal);
    }
    return this.client;
  }

  /** For lists and reads, which may be sent again. Throws with words for a person or the model. */
  async reading<Value>(signal: AbortSignal, read: (client: OpenedClient) => Promise<Value>): Promise<Value> {
    for (let attempt = 1; ; attempt += 1) {
      const client = await this.#connected(signal);
      if (client === undefined) throw new Error(this.#unreachable().text);
      try {
        return await read(client);
      } catch (error) {
        const lost = await this.#whyLost(client, error);
        if (attempt > 1 || signal.aborted || lost.how !== "unknown")
          throw new Error(
            lostOutcome(this.name, lost.how === "unknown" ? { ...lost, how: "unsent" } : lost).text,
            {
              cause: error,
            },
          );
      }
    }
  }

  async close(): Promise<void> {
    const { client } = this;
    this.#set({ name: "closed" });
    this.#closing.abort(new Error("the connection was closed"));
    await this.#connecting;
    await client?.close().catch(() => undefined);
    await this.#closeRetired();
  }

  async #closeRetired(): Promise<void> {
    const clients = [...this.#retired];
    this.#retired.clear();
    await Promise.all(clients.map((client) => client.close().catch(() => undefined)));
  }

  /**
   * A question belongs to the call that it came with. If a server does not say which one that is and several run, nobody
   * is asked: they may be calls of different sessions, and a person must not answer for another.
   */
  #elicit(params: JsonObject): Promise<JsonObject> {
    const own = CALL.getStore();
    const [only] = this.#calls.size === 1 ? this.#calls : [];
    const running = own !== undefined && this.#calls.has(own) ? own : only;
    for (const one of running === undefined ? this.#calls : [running]) one.begun = true;
    return elicit(this.name, params, running?.context);
  }

  #unreachable(): ToolOutcome {
    const state = this.#state;
    if (state.name === "failed" && state.login)
      return lostOutcome(this.name, { how: "login", why: state.problem });
    const why = state.name === "failed" ? state.problem : "its connection is closed";
    return lostOutcome(this.name, { how: "unsent", why });
  }

  /** A failure of the login comes before a request is sent, or is the server's refusal of it. */
  async #whyLost(client: OpenedClient, error: unknown): Promise<Lost> {
    const login = await this.#login?.failure(error);
    if (login === undefined) return client.whyLost(error);
    const why = stringOf(login.details["why"]) ?? login.message;
    return { how: login.code === "mcp_login_needed" ? "login" : "unsent", why };
  }

  async #open(): Promise<void> {
    this.#set({ name: "connecting" });
    const { eras } = this.#host;
    const { timeoutMs = CONNECT_MS } = this.server;
    const late = AbortSignal.timeout(timeoutMs);
    const signal = AbortSignal.any([this.#closing.signal, late]);
    // Loaded here: a process that connects to no server never loads the package.
    const { openClient, connectProblem, wantsLogin } = await import("./open-client.ts");
    let client: OpenedClient | undefined;
    try {
      client = await openClient(this.server, {
        cwd: this.#host.cwd,
        timeoutMs,
        signal,
        legacy: eras?.isLegacy(this.server) === true,
        authProvider: this.#login,
        fetch: this.#host.fetch,
        elicit: (params) => this.#elicit(params),
        onToolsChanged: () => void this.#relist(),
        onClosed: () => this.#ended(client),
      });
      this.#isStale = false;
      this.#read = await this.#list(client, signal);
    } catch (error) {
      await client?.close().catch(() => undefined);
      if (this.#state.name === "closed") return;
      eras?.remember(this.server, undefined);
      const failure = await this.#login?.failure(error);
      const problem = late.aborted
        ? `it did not answer within ${timeoutMs / 1000} s`
        : (stringOf(failure?.details["why"]) ?? failure?.message ?? connectProblem(error));
      const login = failure === undefined ? wantsLogin(error) : failure.code === "mcp_login_needed";
      this.#set({ name: "failed", problem: inertLine(problem, 500), login });
      return;
    }
    if (this.#state.name === "closed") {
      await client.close().catch(() => undefined);
      return;
    }
    this.#era = client.era;
    eras?.remember(this.server, client.era);
    const said = serverText(client.instructions ?? "", MAX_INSTRUCTIONS);
    this.#instructions = said === "" ? undefined : said;
    this.#set({ name: "connected", client });
    if (this.#isStale) void this.#relist();
  }

  async #list(client: OpenedClient, signal: AbortSignal): Promise<ReadTools> {
    const listed = await untilAborted(client.listTools(), signal);
    if (listed === undefined) throw signal.reason;
    return readTools(listed, this.server.tools, client.mirrors);
  }

  /**
   * The server says that its tools have changed. The next turn gets the new list; a failure keeps the old one. A change
   * while a list is being read is read after it.
   */
  async #relist(): Promise<void> {
    this.#isStale = true;
    const { client } = this;
    if (client === undefined || this.#listing === client) return;
    this.#listing = client;
    try {
      while (this.#isStale && this.client === client) {
        this.#isStale = false;
        const read = await this.#list(client, this.#closing.signal);
        if (this.client === client) this.#read = read;
        this.#onChange();
      }
    } catch {
      return;
    } finally {
      if (this.#listing === client) this.#listing = undefined;
    }
  }

  #ended(client: OpenedClient | undefined): void {
    if (client !== undefined && this.client === client) this.#set({ name: "lost" });
  }

  async #drop(client: OpenedClient): Promise<void> {
    if (this.client === client) this.#set({ name: "lost" });
    await client.close().catch(() => undefined);
  }

  #mayRestart(): boolean {
    const now = this.#host.clock.monotonic();
    const recent = this.#restarts.filter((at) => now - at < RESTART_WINDOW_MS);
    if (recent.length >= MOST_RESTARTS) {
      const state = this.#state;
      const problem = state.name === "failed" ? state.problem : "it ended again and again";
      const login = state.name === "failed" && state.login;
      this.#set({ name: "failed", problem, login });
      return false;
    }
    this.#restarts.splice(0, this.#restarts.length, ...recent, now);
    return true;
  }

  #set(state: State): void {
    if (this.#state.name === "closed") return;
    this.#state = state;
    this.#onChange();
  }

  /** A server may send any number of these; a person sees ten a second at most. */
  #progress(running: RunningCall): (said: JsonObject) => void {
    const { clock } = this.#host;
    const { progress } = running.context;
    let last = Number.NEGATIVE_INFINITY;
    return (said) => {
      running.begun = true;
      const now = clock.monotonic();
      if (now - last < PROGRESS_MS) return;
      last = now;
      progress(progressText(said));
    };
  }
}

function progressText({ message, progress, total }: JsonObject): string {
  const text = stringOf(message);
  if (text !== undefined && text !== "") return inertLine(text, 300);
  return typeof total === "number" ? `${String(progress)} of ${total}` : String(progress);
}

function inputOf(input: JsonObject): JsonObject {
  const inner = input["input"];
  return isObject(inner) && !Array.isArray(inner) ? inner : input;
}
