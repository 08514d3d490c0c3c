/**
 * The HTTP side: routes, headers, body limit, recording. Whatever comes in, an answer in the API's own error shape goes
 * out: no stack trace, no hang. Binds to loopback unless told otherwise by its caller.
 *
 * @module
 */

import { setMaxListeners } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { codeOf, type JsonObject, messageOf, ThroughlineError } from "../support/index.ts";
import { redacted } from "./accounts.ts";
import { createResponse, refused, type WireAnswer } from "./create-response.ts";
import type { Engine } from "./engine.ts";
import type { Script } from "./faults/apply.ts";
import { refuse } from "./judge/refusal.ts";
import { playScript } from "./play-script.ts";
import type { RecordedExchange, RequestReport } from "./report.ts";
import { answerRoute } from "./routes.ts";

const maxBodyBytes = 64 * 1024 * 1024;
const maxExchanges = 1000;
const maxRecordedChars = 64 * 1024 * 1024;

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
  readonly exchanges: readonly RecordedExchange[];
  readonly reports: readonly RequestReport[];
  close(): Promise<void>;
}

export async function openHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const connection = new Connection(options);
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    void connection.serve(request, response);
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
    exchanges: connection.exchanges,
    reports: connection.reports,
    close: () => connection.close(server),
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
            : `The emulator cannot listen on ${options.host}:${options.port}: ${messageOf(cause)}`,
          details: { host: options.host, port: options.port },
          cause,
        }),
      );
    });
    server.listen(options.port, options.host, () => resolve());
  });
}

/** An exchange while it is open; handed out read-only. */
type OpenExchange = {
  -readonly [Key in Exclude<keyof RecordedExchange, "events">]: RecordedExchange[Key];
} & Pick<RecordedExchange, "events">;

class Connection {
  readonly exchanges: OpenExchange[] = [];
  readonly reports: RequestReport[] = [];
  readonly #options: HttpServerOptions;
  readonly #closing = new AbortController();
  readonly #open = new Set<Promise<void>>();
  readonly #scripts = new WeakMap<OpenExchange, Script>();
  #queue: Promise<void> = Promise.resolve();
  #served = 0;
  #requests = 0;
  #recordedChars = 0;

  constructor(options: HttpServerOptions) {
    this.#options = options;
    setMaxListeners(0, this.#closing.signal); // one per open stream
  }

  serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const work = this.#serve(request, response).finally(() => this.#open.delete(work));
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
    response.on("error", () => {}); // a client that left; playScript sees the close
    const started = this.#options.engine.options.clock.monotonic();
    const url = new URL(request.url ?? "/", "http://emulator");
    const body = await readBody(request).catch(() => undefined);
    if (body === undefined) return; // the client left while sending
    await this.#turn();
    const exchange = this.#record(request, url, body.text);
    let answer: WireAnswer;
    try {
      answer = this.#answer(request, url, body, exchange.headers);
    } catch (error) {
      answer = refused(
        refuse({
          rule: "X-internal",
          status: 500,
          type: "server_error",
          message: `The emulator has a fault of its own: ${messageOf(error)}`,
          code: "server_error",
        }),
        undefined,
      );
    }
    await this.#send(response, answer, exchange, started);
    this.#options.record?.(exchange);
  }

  /** One request per round of the event loop: open streams keep their pace while hundreds of new ones arrive. */
  #turn(): Promise<void> {
    this.#queue = this.#queue.then(() => new Promise((resolve) => setImmediate(resolve)));
    return this.#queue;
  }

  #answer(
    request: IncomingMessage,
    url: URL,
    body: { readonly text: string; readonly tooLarge: boolean },
    recorded: Readonly<Record<string, string>>,
  ): WireAnswer {
    if (body.tooLarge) {
      return refused(
        refuse({
          rule: "X-large",
          status: 413,
          message: `The request body is too large: the maximum is ${maxBodyBytes} bytes.`,
          code: "request_too_large",
        }),
        undefined,
      );
    }
    const headers = { ...recorded, ...secretHeaders(request) };
    const { engine } = this.#options;
    if (request.method === "POST" && /^(\/v1)?\/responses$/.test(url.pathname)) {
      this.#requests += 1;
      return createResponse(engine, body.text, headers, this.#requests - 1);
    }
    return answerRoute(engine, {
      method: request.method ?? "GET",
      url,
      headers,
      text: body.text,
      reports: this.reports,
    });
  }

  async #send(
    response: ServerResponse,
    answer: WireAnswer,
    exchange: OpenExchange,
    started: number,
  ): Promise<void> {
    const { engine } = this.#options;
    const { clock } = engine.options;
    const slot = answer.report === undefined ? undefined : this.reports.push(answer.report) - 1;
    exchange.status = answer.status;
    exchange.report = answer.report ?? null;
    exchange.responseHeaders = {
      ...commonHeaders(engine, answer, Math.max(1, Math.round(clock.monotonic() - started))),
      ...answer.headers,
    };
    response.writeHead(answer.status, exchange.responseHeaders);
    if (answer.script !== undefined) {
      this.#scripts.set(exchange, answer.script);
      await playScript(response, answer.script, {
        paceMs: this.#options.paceMs,
        clock,
        closing: this.#closing.signal,
        settled: (outcome) => this.#settle(exchange, slot, answer.ended?.(outcome)),
      });
      return;
    }
    exchange.responseText =
      answer.html ?? (answer.json === undefined ? "" : JSON.stringify(answer.json, null, 2));
    // The ledger first: a client that has the answer may send its next request at once.
    const status = (answer.json as { readonly status?: unknown } | undefined)?.status;
    const outcome = status === "incomplete" || status === "failed" ? status : "completed";
    this.#settle(exchange, slot, answer.ended?.(outcome));
    response.end(exchange.responseText);
  }

  #settle(exchange: OpenExchange, slot: number | undefined, report: RequestReport | undefined): void {
    if (report === undefined || slot === undefined) return;
    this.reports[slot] = report;
    exchange.report = report;
  }

  #record(request: IncomingMessage, url: URL, text: string): OpenExchange {
    const scripts = this.#scripts;
    const exchange: OpenExchange = {
      index: this.#served,
      method: request.method ?? "",
      path: url.pathname + url.search,
      headers: publicHeaders(request),
      requestText: text,
      status: 0,
      responseHeaders: {},
      // Made when somebody looks: most exchanges are never looked at.
      get events() {
        return eventsOf(scripts.get(exchange));
      },
      responseText: "",
      report: null,
    };
    this.#served += 1;
    this.exchanges.push(exchange);
    this.#recordedChars += text.length;
    // Old exchanges go, so that an emulator left running does not grow for ever.
    while (this.exchanges.length > maxExchanges || this.#recordedChars > maxRecordedChars) {
      if (this.exchanges.length <= 1) break;
      this.#recordedChars -= this.exchanges.shift()?.requestText.length ?? 0;
    }
    return exchange;
  }
}

function eventsOf(script: Script | undefined): readonly JsonObject[] {
  const whole = script?.frames.filter((frame) => frame.partial === undefined) ?? [];
  return whole.flatMap(({ event }) => (event === undefined ? [] : [event]));
}

function publicHeaders(request: IncomingMessage): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (value === undefined) continue;
    const text = Array.isArray(value) ? value.join(", ") : value;
    headers[name] = name === "authorization" ? text.replace(/\S+$/, (key) => redacted(key)) : text;
  }
  return headers;
}

function secretHeaders(request: IncomingMessage): Readonly<Record<string, string>> {
  const { authorization } = request.headers;
  return authorization === undefined ? {} : { authorization };
}

function commonHeaders(engine: Engine, answer: WireAnswer, elapsedMs: number): Record<string, string> {
  const type =
    answer.script !== undefined
      ? "text/event-stream; charset=utf-8"
      : answer.html !== undefined
        ? "text/html"
        : "application/json";
  return {
    "content-type": type,
    "x-request-id": `req_${engine.seal.random(16).toString("hex")}`,
    "openai-processing-ms": String(elapsedMs),
    "openai-version": "2020-10-01",
    ...(answer.report === undefined || answer.report.account === ""
      ? {}
      : { "openai-organization": answer.report.account }),
    "x-ratelimit-limit-requests": "5000",
    "x-ratelimit-limit-tokens": "2000000",
    "x-ratelimit-remaining-requests": "4999",
    "x-ratelimit-remaining-tokens": "1999000",
    "x-ratelimit-reset-requests": "12ms",
    "x-ratelimit-reset-tokens": "30ms",
    "x-emulator": "throughline",
    ...(answer.script === undefined ? {} : { "cache-control": "no-cache" }),
  };
}

function readBody(request: IncomingMessage): Promise<{ readonly text: string; readonly tooLarge: boolean }> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBodyBytes) chunks.push(chunk);
      else chunks.length = 0; // still read, so that the client gets to see the answer
    });
    request.on("end", () => {
      resolve({ text: Buffer.concat(chunks).toString("utf8"), tooLarge: size > maxBodyBytes });
    });
    request.on("error", reject);
    request.on("aborted", () => reject(new Error("aborted")));
  });
}
