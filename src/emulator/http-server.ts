/**
 * The HTTP side: routes, headers, body limit, recording. Every request gets an answer in the API's own error shape: no
 * stack trace, no hang. Binds to loopback unless its caller says otherwise.
 */

import { setMaxListeners } from "node:events";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { codeOf, listenProblem, messageOf, ThroughlineError } from "../base/support/index.ts";
import { answerRequest } from "./answer-request.ts";
import { refuse } from "./api-refusal.ts";
import { type Dialect, refused, type WireAnswer } from "./dialect.ts";
import { dialectOf } from "./dialects.ts";
import type { Engine } from "./engine.ts";
import { toBodyScript } from "./faults/apply.ts";
import { playScript } from "./play-script.ts";
import { type OpenEntry, Recording } from "./recording.ts";
import type { RecordedExchange } from "./report.ts";
import { answerRoute, pathOf } from "./routes.ts";

export interface HttpServerOptions {
  readonly engine: Engine;
  readonly host: string;
  readonly port: number;
  readonly paceMs: number;
  readonly unref: boolean;
  readonly record: ((entry: RecordedExchange) => void) | undefined;
}

export interface HttpServer {
  readonly url: string;
  readonly recording: Recording;
  close(): Promise<void>;
}

export async function openHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const dispatcher = new Dispatcher(options);
  // Not imported: on Node 24 the import would load the whole of `fetch`.
  const server = process
    .getBuiltinModule("node:http")
    .createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
      void dispatcher.serve(request, response);
    });
  if (options.unref) {
    server.unref();
    server.on("connection", (socket) => socket.unref());
  }
  await listen(server, options);
  const { address, port, family } = server.address() as AddressInfo;
  const host = family === "IPv6" ? `[${address}]` : address;
  return {
    url: `http://${host}:${port}`,
    recording: dispatcher.recording,
    close: () => dispatcher.close(server),
  };
}

function listen(server: Server, options: HttpServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause) => {
      const taken = codeOf(cause) === "EADDRINUSE";
      reject(
        new ThroughlineError({
          code: taken ? "port_in_use" : "listen_failed",
          message: taken
            ? `Port ${options.port} on ${options.host} is in use. Choose another with --port, or 0 for any free one.`
            : `The emulator cannot listen on ${options.host}:${options.port}: ${listenProblem(cause)}`,
          details: { host: options.host, port: options.port },
          cause,
        }),
      );
    });
    server.listen(options.port, options.host, () => resolve());
  });
}

interface RequestHead {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

interface Body {
  readonly text: string;
  readonly tooLarge: boolean;
}

/** Takes requests, returns answers, and tracks those still open. */
class Dispatcher {
  readonly recording = new Recording();
  readonly #options: HttpServerOptions;
  readonly #closing = new AbortController();
  readonly #open = new Set<Promise<void>>();
  #queue: Promise<void> = Promise.resolve();
  #requests = 0;

  constructor(options: HttpServerOptions) {
    this.#options = options;
    setMaxListeners(0, this.#closing.signal); // one per open stream
  }

  serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const work = this.#serve(request, response)
      .catch(() => void response.destroy()) // nothing may escape into the user's process
      .finally(() => this.#open.delete(work));
    this.#open.add(work);
    return work;
  }

  async close(server: Server): Promise<void> {
    this.#closing.abort();
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await Promise.all(this.#open);
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on("error", () => {}); // the client left; playScript sees the close
    const started = this.#options.engine.options.clock.monotonic();
    const url = urlOf(request.url ?? "/");
    const headers = headersOf(request);
    const dialect = dialectOf(pathOf(url), headers);
    const body = await readBody(request, dialect.maxBodyBytes).catch(() => undefined);
    if (body === undefined) return; // the client left while sending
    await this.#turn();
    const entry = this.recording.begin(request, url.pathname + url.search, body.text);
    const answer = this.#answer(dialect, { method: request.method ?? "GET", url, headers }, body);
    await this.#send(response, { dialect, answer, entry, started });
    this.#options.record?.(entry);
  }

  /** One request per event loop iteration: open streams keep their pace while hundreds of new ones arrive. */
  #turn(): Promise<void> {
    this.#queue = this.#queue.then(() => new Promise((resolve) => setImmediate(resolve)));
    return this.#queue;
  }

  #answer(dialect: Dialect, request: RequestHead, body: Body): WireAnswer {
    try {
      return this.#judge(dialect, request, body);
    } catch (error) {
      const message = `The emulator failed internally: ${messageOf(error)}`;
      return refused(
        refuse({ rule: "X-internal", status: 500, type: "server_error", message, code: "server_error" }),
        undefined,
      );
    }
  }

  #judge(dialect: Dialect, request: RequestHead, body: Body): WireAnswer {
    if (body.tooLarge) return refused(dialect.tooLarge(), undefined);
    const { engine } = this.#options;
    const { text } = body;
    if (request.method === "POST" && dialect.create.test(pathOf(request.url))) {
      this.#requests += 1;
      return answerRequest(engine, dialect, { text, headers: request.headers, request: this.#requests - 1 });
    }
    return answerRoute(engine, dialect, { ...request, text, reports: this.recording.reports });
  }

  async #send(
    response: ServerResponse,
    sent: {
      readonly dialect: Dialect;
      readonly answer: WireAnswer;
      readonly entry: OpenEntry;
      readonly started: number;
    },
  ): Promise<void> {
    const { dialect, answer, entry, started } = sent;
    const requestId = `req_${this.#options.engine.seal.random(16).toString("hex")}`;
    const { clock } = this.#options.engine.options;
    this.recording.judged(entry, answer.report);
    entry.status = answer.status;
    entry.responseHeaders = {
      ...commonHeaders(answer),
      ...dialect.responseHeaders({
        requestId,
        account: answer.report?.account ?? "",
        elapsedMs: Math.max(1, Math.round(clock.monotonic() - started)),
        engine: this.#options.engine,
      }),
      ...answer.headers,
    };
    response.writeHead(answer.status, entry.responseHeaders);
    if (answer.script === undefined) {
      const json = answer.refusal === undefined ? answer.json : dialect.errorBody(answer.refusal, requestId);
      entry.responseText = answer.html ?? (json === undefined ? "" : JSON.stringify(json, null, 2));
    }
    const outcome = answer.outcome ?? "completed";
    const script =
      answer.script ?? toBodyScript(entry.responseText, { faults: answer.bodyFaults ?? [], outcome });
    if (script !== undefined) {
      this.recording.playing(entry, script);
      await playScript(response, script, {
        paceMs: this.#options.paceMs,
        clock,
        closing: this.#closing.signal,
        settled: (how) => this.recording.settled(entry, answer.ended?.(how)),
      });
      return;
    }
    // Update the issued record first: a client that has the answer may send its next request immediately.
    this.recording.settled(entry, answer.ended?.(outcome));
    response.end(entry.responseText);
  }
}

/** The URL parser rejects paths such as `//`; they count as an unknown route. */
function urlOf(text: string): URL {
  const path = text.startsWith("/") ? text.replace(/^\/+/, "/") : `/${text}`;
  return URL.canParse(path, "http://emulator")
    ? new URL(path, "http://emulator")
    : new URL("/", "http://emulator");
}

function commonHeaders(answer: WireAnswer): Record<string, string> {
  const page = answer.html === undefined ? "application/json" : "text/html";
  return {
    "content-type": answer.script === undefined ? page : "text/event-stream; charset=utf-8",
    "x-emulator": "throughline",
    ...(answer.script === undefined ? {} : { "cache-control": "no-cache" }),
  };
}

/** Includes the key; recorded headers are redacted. */
function headersOf(request: IncomingMessage): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return headers;
}

function readBody(request: IncomingMessage, maxBodyBytes: number): Promise<Body> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBodyBytes) chunks.push(chunk);
      else chunks.length = 0; // still read to the end, so that the client sees the answer
    });
    request.on("end", () => {
      resolve({ text: Buffer.concat(chunks).toString("utf8"), tooLarge: size > maxBodyBytes });
    });
    request.on("error", reject);
    request.on("aborted", () => reject(new Error("aborted")));
  });
}
