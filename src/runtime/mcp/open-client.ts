/**
 * Opens one connection with the official client package, in whichever of the two eras of the protocol the server speaks.
 * This file and the transports are the only ones that load the package; everything else imports this file when the first
 * server is connected.
 */

import {
  Client,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from "@modelcontextprotocol/client";

import { isObject, type JsonObject, messageOf, VERSION } from "../../base/support/index.ts";
import type { FetchLike } from "./bounded-answer.ts";
import { CUT_OFF, HttpTransport } from "./http-transport.ts";
import { lastWords } from "./last-words.ts";
import type { Lost } from "./lost-call.ts";
import type { McpOAuth } from "./oauth/index.ts";
import type { McpServerConfig } from "./server-config.ts";
import { StdioTransport } from "./stdio-transport.ts";

/** A legacy server may stay mute when it is asked which era it speaks. */
const PROBE_MS = 3000;
/** Calls and their time limits are the turn's, so the package's own limit must never end one. */
const NO_LIMIT = 2_147_483_647;
const LIST_MS = 30_000;

export interface OpenOptions {
  readonly cwd: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** The server is known to speak the earlier era, so it is not asked. */
  readonly legacy: boolean;
  readonly authProvider?: McpOAuth | undefined;
  readonly fetch?: FetchLike | undefined;
  /** Answers a question of the server, in the form of the protocol. */
  readonly elicit: (params: JsonObject) => Promise<JsonObject>;
  readonly onToolsChanged: () => void;
  readonly onClosed: () => void;
}

export interface CallOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: JsonObject) => void;
}

/** A page of a list, and everything else that a server answers, is checked by its reader. */
export class OpenedClient {
  readonly #client: Client;
  readonly #transport: StdioTransport | HttpTransport;

  constructor(client: Client, transport: StdioTransport | HttpTransport) {
    this.#client = client;
    this.#transport = transport;
  }

  get era(): "legacy" | "modern" {
    return this.#client.getProtocolEra() ?? "legacy";
  }

  get instructions(): string | undefined {
    return this.#client.getInstructions();
  }

  /** Whether headers may repeat arguments of calls. */
  get mirrors(): boolean {
    return this.era === "modern" && this.#transport instanceof HttpTransport;
  }

  has(capability: "tools" | "resources" | "prompts"): boolean {
    return this.#client.getServerCapabilities()?.[capability] !== undefined;
  }

  /** What the server wrote to its standard error last. */
  get stderr(): string {
    return this.#transport instanceof StdioTransport ? this.#transport.stderr : "";
  }

  /** One at a time: the answers of two would mix. */
  async listTools(): Promise<readonly unknown[]> {
    if (!this.has("tools")) return [];
    await this.#client.listTools(undefined, { timeout: LIST_MS, cacheMode: "refresh" });
    return this.#transport.tap.listed;
  }

  async call(tool: JsonObject, input: JsonObject, { signal, onProgress }: CallOptions): Promise<JsonObject> {
    const name = String(tool["name"]);
    const inputSchema = isObject(tool["inputSchema"]) ? tool["inputSchema"] : {};
    const result = await this.#client.callTool(
      { name, arguments: { ...input } },
      {
        signal,
        timeout: NO_LIMIT,
        onprogress: (progress) => onProgress({ ...progress }),
        // With a definition, the package neither checks the answer nor ever sends the call a second time by itself.
        toolDefinition: { name, inputSchema: { ...inputSchema, type: "object" } },
      },
    );
    return { ...result };
  }

  async resources(): Promise<readonly unknown[]> {
    if (!this.has("resources")) return [];
    const { resources } = await this.#client.listResources(undefined, { timeout: LIST_MS });
    return resources;
  }

  async readResource(uri: string, signal: AbortSignal): Promise<readonly unknown[]> {
    const { contents } = await this.#client.readResource({ uri }, { signal, timeout: NO_LIMIT });
    return contents;
  }

  async prompts(): Promise<readonly unknown[]> {
    if (!this.has("prompts")) return [];
    const { prompts } = await this.#client.listPrompts(undefined, { timeout: LIST_MS });
    return prompts;
  }

  async prompt(name: string, given: Readonly<Record<string, string>>): Promise<JsonObject> {
    return { ...(await this.#client.getPrompt({ name, arguments: { ...given } }, { timeout: LIST_MS })) };
  }

  /** Resolves at once, unless the process of the server has just exited: then when that is known to be the end. */
  async settled(): Promise<void> {
    if (this.#transport instanceof StdioTransport) await this.#transport.settled();
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  /** What an error of `call` says about the call. */
  whyLost(error: unknown): Lost {
    return lostBy(error, this.#transport);
  }
}

/** Rejects with an error that says what to do. Nothing is left running then. */
export async function openClient(server: McpServerConfig, options: OpenOptions): Promise<OpenedClient> {
  try {
    return await connectOnce(server, options, options.legacy);
  } catch (error) {
    // Some servers of the earlier era end when they are asked anything before the handshake.
    if (options.legacy || options.signal.aborted || !isClosedProbe(error)) throw error;
    return connectOnce(server, options, true);
  }
}

async function connectOnce(
  server: McpServerConfig,
  options: OpenOptions,
  legacy: boolean,
): Promise<OpenedClient> {
  const { authProvider, fetch, signal, timeoutMs } = options;
  const transport =
    "url" in server
      ? new HttpTransport(server, { authProvider, fetch })
      : new StdioTransport(server, server.cwd ?? options.cwd);
  const client = new Client(
    { name: "throughline", version: VERSION },
    {
      capabilities: { elicitation: { form: { applyDefaults: true }, url: {} } },
      versionNegotiation: { mode: "auto", probe: { timeoutMs: Math.min(PROBE_MS, timeoutMs) } },
      listChanged: { tools: { autoRefresh: false, onChanged: () => options.onToolsChanged() } },
    },
  );
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    return (await options.elicit({ ...params })) as { action: "accept" | "decline" | "cancel" };
  });
  const stop = (): void => void transport.close().catch(() => undefined);
  signal.addEventListener("abort", stop, { once: true });
  try {
    await client.connect(transport, {
      timeout: timeoutMs,
      signal,
      ...(legacy ? { prior: { kind: "legacy" } } : {}),
    });
  } catch (error) {
    await transport.close().catch(() => undefined);
    throw signal.aborted ? error : withStderr(error, transport);
  } finally {
    signal.removeEventListener("abort", stop);
  }
  Object.assign(client, { onclose: options.onClosed });
  return new OpenedClient(client, transport);
}

function isClosedProbe(error: unknown): boolean {
  const cause = error instanceof StartFailed ? error.cause : error;
  return cause instanceof SdkError && cause.code === SdkErrorCode.EraNegotiationFailed;
}

/** A server that ends while it is being connected says why on its standard error, if at all. */
class StartFailed extends Error {}

function withStderr(error: unknown, transport: StdioTransport | HttpTransport): unknown {
  const said = transport instanceof StdioTransport ? transport.stderr.trim() : "";
  if (said === "") return error;
  return new StartFailed(`${connectProblem(error)}. It wrote: ${lastWords(said)}`, { cause: error });
}

/** Whether the server wants a login first. */
export function wantsLogin(error: unknown): boolean {
  return (
    error instanceof UnauthorizedError ||
    (error instanceof SdkHttpError && error.status === 401) ||
    (error instanceof StartFailed && wantsLogin(error.cause))
  );
}

/** Why a connection could not be made, for a person. */
export function connectProblem(error: unknown): string {
  if (error instanceof StartFailed) return error.message;
  if (error instanceof SdkHttpError) return `it answered with HTTP ${error.status ?? "error"}`;
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout)
    return "it did not answer in time";
  if (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed)
    return "it ended before it answered";
  if (error instanceof ProtocolError) return `it answered with an error: ${error.message}`;
  if (
    error instanceof Error &&
    (/^\$?ZodError$/.test(error.name) || error.message.startsWith("Invalid result for "))
  )
    return "its answer is not a message of the protocol";
  const code = systemCode(error);
  if (code === "ENOENT") return `there is no such program: ${programOf(error)}`;
  if (code === "EACCES") return "the program may not be run";
  return SYSTEM[code ?? ""] ?? messageOf(rootOf(error));
}

function programOf(error: unknown): string {
  const root = rootOf(error);
  const path = isObject(root) ? root["path"] : undefined;
  return typeof path === "string" ? path : "unknown";
}

const SYSTEM: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ENOTFOUND: "its host name is not known",
  EAI_AGAIN: "its host name cannot be looked up",
  EHOSTUNREACH: "its host cannot be reached",
  ENETUNREACH: "its network cannot be reached",
  ECONNRESET: "it closed the connection",
  EPIPE: "it ended before it answered",
};

/** What fails before anything is sent. A connection in use can end with the same codes, after a request was sent. */
const BEFORE_SENDING: ReadonlySet<unknown> = new Set(["connect", "getaddrinfo"]);

function isUnsent(error: unknown): boolean {
  const root = rootOf(error);
  if (root instanceof AggregateError && root.errors.length > 0)
    return root.errors.every((one) => isUnsent(one));
  return isObject(root) && BEFORE_SENDING.has(root["syscall"]);
}

function rootOf(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? rootOf(error.cause) : error;
}

function systemCode(error: unknown): string | undefined {
  const root = rootOf(error);
  const code = isObject(root) ? root["code"] : undefined;
  return typeof code === "string" ? code : undefined;
}

/**
 * Refusals with these codes come before a tool is run. Those for bad requests and parameters (-32600, -32602) may come
 * after: servers use them for a result that misses its schema (typescript-sdk#654), and proxies pass them on.
 */
const REFUSED_BEFORE: ReadonlySet<number> = new Set([-32_700, -32_601, -32_020, -32_021, -32_022]);

function lostBy(error: unknown, transport: StdioTransport | HttpTransport): Lost {
  if (wantsLogin(error)) return { how: "login" };
  if (error instanceof ProtocolError) {
    if (error.code === CUT_OFF) return { how: "unknown", why: error.message };
    return { how: REFUSED_BEFORE.has(error.code) ? "refused" : "failed", why: error.message };
  }
  if (error instanceof SdkHttpError) {
    const { status } = error;
    const why = `it answered with HTTP ${status ?? "error"}`;
    // 408: something on the way has waited for an answer long enough.
    const isRefusal = status !== undefined && status >= 300 && status < 500 && status !== 408;
    return isRefusal ? { how: "refused", why, reconnect: status === 404 } : { how: "unknown", why };
  }
  if (error instanceof SdkError && error.code === SdkErrorCode.NotConnected)
    return { how: "unsent", why: "it is not connected" };
  if (isUnsent(error)) return { how: "unsent", why: connectProblem(error) };
  if (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed)
    return { how: "unknown", why: transport.problem ?? "the connection broke after the call was sent" };
  return { how: "unknown", why: transport.problem ?? connectProblem(error) };
}
