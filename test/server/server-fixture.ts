/** A server on a real port in front of a scripted emulator. Everything is closed after the test. */

import { request as httpRequest } from "node:http";
import { connect as connectSocket, type Socket } from "node:net";

import { connect, type RemoteAgent } from "../../src/access/client/index.ts";
import { type RunningServer, type ServerOptions, startServer } from "../../src/access/server/index.ts";
import { asEffort } from "../../src/base/events/index.ts";
import {
  loadScenario,
  startEmulator,
  type Emulator,
  type EmulatorOptions,
} from "../../src/emulator/index.ts";
import {
  type Agent,
  type AgentOptions,
  createAgent,
  memoryStore,
  type Model,
  openai,
  type SessionEvent,
  type SessionHandle,
  type Store,
} from "../../src/index.ts";
import { afterTest } from "../contracts/file-fixture.ts";
import { KEY, type ScriptStep } from "../contracts/session-fixture.ts";

export interface ServedOptions extends Partial<AgentOptions> {
  readonly script?: readonly ScriptStep[];
  readonly emulator?: EmulatorOptions;
  readonly store?: Store;
  readonly server?: Partial<ServerOptions>;
}

export interface Served {
  readonly emulator: Emulator;
  readonly agent: Agent;
  readonly store: Store;
  readonly server: RunningServer;
  readonly problems: string[];
  readonly remote: RemoteAgent;
  readonly modelFrom: (name: string) => Model;
}

/** Agent and store in front of an emulator; the same for a local session and for a server. */
export async function scriptedAgent(
  options: ServedOptions,
): Promise<Omit<Served, "server" | "remote" | "problems">> {
  const {
    script,
    emulator: emulatorOptions,
    store = memoryStore(),
    server: _server,
    ...agentOptions
  } = options;
  const emulator = await startEmulator({
    ...emulatorOptions,
    ...(script === undefined
      ? {}
      : { scenario: loadScenario(JSON.stringify({ steps: script, afterwards: "model" }), "test.json") }),
  });
  afterTest(() => emulator.close());
  const modelFrom = (name: string): Model => {
    const [, model = "", effort] = /^test\/([\w-]+)(?::(\w+))?$/.exec(name) ?? [];
    if (model === "")
      throw Object.assign(new Error(`no model ${name}`), { name: "ThroughlineError", code: "model_invalid" });
    return openai(model, {
      apiKey: KEY,
      baseUrl: emulator.baseUrl,
      ...(effort === undefined ? {} : { effort: asEffort(effort) }),
    });
  };
  const agent = createAgent({ model: modelFrom("test/emu-reasoner"), modelFrom, ...agentOptions });
  return { emulator, agent, store, modelFrom };
}

/** Starts a server without a client, whose connections would be counted. */
export async function servedAlone(options: ServedOptions = {}): Promise<Omit<Served, "remote">> {
  const parts = await scriptedAgent(options);
  const problems: string[] = [];
  const server = await startServer({
    store: parts.store,
    agent: parts.agent,
    port: 0,
    onProblem: (message) => problems.push(message),
    ...options.server,
  });
  afterTest(() => server.close());
  return { ...parts, server, problems };
}

export async function served(options: ServedOptions = {}): Promise<Served> {
  const parts = await servedAlone(options);
  const remote = await connect(parts.server.url, { token: parts.server.token });
  return { ...parts, remote };
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
}

export interface AskOptions {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Uint8Array;
  /** Omits the token, host and content type that a good client sends. */
  readonly bare?: boolean;
}

/** Sends one request exactly as given: Node's fetch would set or refuse some of these headers. */
export function ask(server: Pick<RunningServer, "port" | "token">, options: AskOptions): Promise<Answer> {
  const { method = "GET", path, headers = {}, body, bare = false } = options;
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      {
        host: "127.0.0.1",
        port: server.port,
        agent: false, // the server may close a kept-alive connection just as this request goes out
        method,
        path,
        setHost: false,
        headers: {
          ...(bare
            ? {}
            : {
                host: `127.0.0.1:${server.port}`,
                authorization: `Bearer ${server.token}`,
                ...(method === "GET" || method === "HEAD" ? {} : { "content-type": "application/json" }),
              }),
          // Node sends the body of a DELETE without announcing it.
          ...(body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) }),
          ...headers,
        } as Record<string, string | string[]>,
      },
      (response) => {
        const chunks: Buffer[] = [];
        // A stream never ends by itself, so its head is the answer.
        if (response.headers["content-type"] === "text/event-stream") response.destroy();
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", () => undefined);
        response.on("close", () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(chunks).toString("utf8"),
          }),
        );
      },
    );
    request.on("error", reject);
    // Node releases a socket whose answer arrived before the whole body was written, so the failed write has no
    // listener.
    request.once("socket", (socket) => {
      if (!socket.listeners("error").includes(ignore)) socket.on("error", ignore);
    });
    request.end(body);
  });
}

const ignore = (): undefined => undefined;

export function codeIn(answer: Answer): unknown {
  try {
    return (JSON.parse(answer.text) as { readonly error?: { readonly code?: unknown } }).error?.code;
  } catch {
    return undefined;
  }
}

/** Sends raw bytes, for requests that no HTTP client would make. */
export function rawSocket(server: RunningServer): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connectSocket({ host: "127.0.0.1", port: server.port }, () => resolve(socket));
    socket.on("error", reject);
    afterTest(() => void socket.destroy());
  });
}

/** Follows until the event arrives; resolves to all events so far. */
export async function followUntil(
  handle: SessionHandle,
  isLast: (event: SessionEvent) => boolean,
  after = -1,
): Promise<readonly SessionEvent[]> {
  const events: SessionEvent[] = [];
  const stop = new AbortController();
  for await (const event of handle.follow({ after, signal: stop.signal })) {
    events.push(event);
    if (isLast(event)) stop.abort();
  }
  return events;
}
