/**
 * A server at an address: the package's own transport, watched. The package says nothing when the stream of an answer
 * ends before the answer (typescript-sdk#2739), so this ends the request itself, at once. Answers are bounded. Loaded only
 * together with the client package.
 */

import {
  type AuthProvider,
  type JSONRPCMessage,
  type RequestId,
  StreamableHTTPClientTransport,
  type Transport,
  type TransportSendOptions,
} from "@modelcontextprotocol/client";

import { boundedAnswer, type FetchLike } from "./bounded-answer.ts";
import { ListTap } from "./list-tap.ts";
import type { HttpServer } from "./server-config.ts";

/** The code of an answer that this transport gives in place of the server. */
export const CUT_OFF = -32_097;

const RECONNECTION = {
  initialReconnectionDelay: 200,
  maxReconnectionDelay: 2000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 3,
};

/** A server may say when to come back for the rest of an answer, but not in a month. */
const LATEST_RETURN_MS = 5000;

export interface HttpTransportOptions {
  readonly authProvider?: AuthProvider | undefined;
  readonly fetch?: FetchLike | undefined;
}

export class HttpTransport implements Transport {
  readonly tap = new ListTap();
  readonly hasPerRequestStream = true;
  readonly inner: StreamableHTTPClientTransport;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport["onmessage"];
  /** Requests without an answer. */
  readonly #open = new Set<unknown>();
  /** Those of them whose answer is a stream. */
  readonly #streams = new Set<unknown>();
  #problem: string | undefined;

  constructor(
    { url, headers }: HttpServer,
    { authProvider, fetch: asked = fetch }: HttpTransportOptions = {},
  ) {
    this.inner = new StreamableHTTPClientTransport(new URL(url), {
      ...(headers === undefined ? {} : { requestInit: { headers } }),
      ...(authProvider === undefined ? {} : { authProvider }),
      fetch: boundedAnswer(asked, {
        onTooLarge: (problem) => (this.#problem = problem),
        onStream: (id) => this.#streams.add(id),
      }),
      reconnectionOptions: RECONNECTION,
      reconnectionScheduler: (reconnect, delay) => {
        const timer = setTimeout(reconnect, Math.min(delay, LATEST_RETURN_MS));
        return () => clearTimeout(timer);
      },
    });
    Object.assign(this.inner, {
      onclose: () => this.onclose?.(),
      onerror: (error: Error) => this.onerror?.(error),
      onmessage: (message: JSONRPCMessage) => this.#take(message),
    });
  }

  /** Why an answer was cut off, if this side did it. */
  get problem(): string | undefined {
    return this.#problem;
  }

  get sessionId(): string | undefined {
    return this.inner.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.inner.setProtocolVersion(version);
  }

  start(): Promise<void> {
    return this.inner.start();
  }

  async send(message: JSONRPCMessage, options: TransportSendOptions = {}): Promise<void> {
    this.tap.outgoing(message);
    if (!("method" in message) || !("id" in message)) return this.inner.send(message, given(options));
    const { id } = message;
    this.#open.add(id);
    const isProbe = options.onRequestStreamEnd !== undefined;
    await this.inner.send(message, {
      ...given(options),
      onRequestStreamEnd: () => {
        options.onRequestStreamEnd?.();
        if (!isProbe) this.#cutOff(id, "the connection ended before the answer");
      },
    });
    // An answer that is no stream has been read by now.
    if (!isProbe && !this.#streams.has(id)) this.#cutOff(id, "its answer was not to this request");
  }

  #cutOff(id: RequestId, why: string): void {
    if (!this.#open.delete(id)) return;
    this.#streams.delete(id);
    this.onmessage?.({ jsonrpc: "2.0", id, error: { code: CUT_OFF, message: this.#problem ?? why } });
  }

  /** Ends the server's session too, where it has one, but does not wait long for it. */
  async close(): Promise<void> {
    const signal = AbortSignal.timeout(1000);
    if (this.inner.sessionId !== undefined)
      await Promise.race([
        this.inner.terminateSession().catch(() => undefined),
        new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true })),
      ]);
    await this.inner.close();
  }

  #take(message: JSONRPCMessage): void {
    if (!("method" in message) && "id" in message) {
      this.#open.delete(message.id);
      this.#streams.delete(message.id);
    }
    this.onmessage?.(this.tap.incoming(message));
  }
}

type Given = NonNullable<Parameters<StreamableHTTPClientTransport["send"]>[1]>;

/** The package's own transport does not take members that are undefined. */
function given(options: TransportSendOptions): Given {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
