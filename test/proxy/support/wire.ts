/** Both ends of a proxy as raw connections: an upstream that answers with given bytes, and a client that sends them. */

import { type AddressInfo, connect, createServer, type Socket } from "node:net";

import { type ProxyOptions, type RunningProxy, startProxy } from "../../../src/proxy/relay/index.ts";
import { afterTest } from "../../support/clean-up.ts";
import { type Header, type Message, messageBytes, MessageReader, valuesOf } from "./http-bytes.ts";

export interface Upstream {
  readonly origin: string;
  /** Whole requests, in the order of their ends. */
  readonly requests: readonly Message[];
  /** Every connection so far. */
  readonly sockets: readonly Socket[];
  /** Resolves with the nth request (from 0), once it is whole. */
  request(nth: number): Promise<Message>;
}

export type Answering = (socket: Socket, request: Message, nth: number) => void;

export async function startUpstream(answer: Answering | Buffer): Promise<Upstream> {
  const requests: Message[] = [];
  const sockets: Socket[] = [];
  const waiting = new Set<() => void>();
  const server = createServer((socket) => {
    sockets.push(socket);
    const reader = new MessageReader();
    socket.on("error", () => undefined);
    socket.on("data", (bytes: Buffer) => {
      for (const request of reader.feed(bytes)) {
        requests.push(request);
        if (Buffer.isBuffer(answer)) socket.write(answer);
        else answer(socket, request, requests.length - 1);
        for (const wake of waiting) wake();
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterTest(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    sockets,
    request: (nth) =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = requests[nth];
          if (found === undefined) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
  };
}

export interface Answer extends Message {
  readonly status: number;
  /** The words after the status. */
  readonly words: string;
  /** The statuses of informational answers that came before. */
  readonly before: readonly number[];
}

export interface Client {
  readonly socket: Socket;
  /** Everything that arrived so far. */
  readonly got: () => Buffer;
  /** Resolves when this much of the body arrived, or the connection ended. */
  body(length: number): Promise<Buffer>;
  readonly answer: Promise<Answer>;
}

/** Sends bytes on a connection of its own, and reads one answer. */
export function openClient(port: number, bytes: Buffer, by?: () => Socket): Client {
  const socket = by === undefined ? connect({ host: "127.0.0.1", port }) : by();
  const noBody = bytes.toString("latin1", 0, 5) === "HEAD ";
  const reader = new MessageReader((start) => !noBody && !/^HTTP\/1\.1 (?:1\d\d|204|304)/.test(start));
  const before: number[] = [];
  const chunks: Buffer[] = [];
  const looking = new Set<() => void>();
  let ended = false;
  const answer = new Promise<Answer>((resolve) => {
    socket.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      for (const message of reader.feed(chunk)) {
        const found = answerOf(message, before);
        if (found.status < 200) before.push(found.status);
        else resolve(found);
      }
      for (const look of looking) look();
    });
    const over = (whole: boolean) => (): void => {
      ended = true;
      const partial = reader.partial ?? { start: "", headers: [], body: Buffer.alloc(0), whole: false };
      resolve(answerOf({ ...partial, whole: whole && partial.whole }, before));
      for (const look of looking) look();
    };
    socket.on("end", over(true));
    socket.on("close", over(false));
    socket.on("error", () => undefined);
  });
  afterTest(() => socket.destroy());
  socket.write(bytes);
  return {
    socket,
    got: () => Buffer.concat(chunks),
    body: (length) =>
      new Promise((resolve) => {
        const look = (): void => {
          const body = reader.partial?.body ?? Buffer.alloc(0);
          if (body.length < length && !ended) return;
          looking.delete(look);
          resolve(body);
        };
        looking.add(look);
        look();
      }),
    answer,
  };
}

function answerOf(message: Message, before: readonly number[]): Answer {
  const [, status = "0", words = ""] = /^HTTP\/1\.\d (\d+) ?(.*)$/.exec(message.start) ?? [];
  return { ...message, status: Number(status), words, before };
}

export async function ask(port: number, bytes: Buffer, by?: () => Socket): Promise<Answer> {
  const client = openClient(port, bytes, by);
  const answer = await client.answer;
  client.socket.destroy();
  return answer;
}

export interface Asking {
  readonly method?: string;
  readonly headers?: readonly Header[];
  readonly body?: Buffer | string;
}

/** A request to the proxy, with its Host first unless the headers have one. */
export function requestTo(
  port: number,
  target: string,
  { method = "POST", headers = [], body = "" }: Asking,
): Buffer {
  const host: readonly Header[] = valuesOf(headers, "host").length > 0 ? [] : [["Host", `127.0.0.1:${port}`]];
  return messageBytes(`${method} ${target} HTTP/1.1`, [...host, ...headers], body);
}

export interface WatchedProxy extends RunningProxy {
  readonly problems: readonly string[];
}

/** Closed after the test. */
export async function openProxy(options: ProxyOptions): Promise<WatchedProxy> {
  const problems: string[] = [];
  const proxy = await startProxy({ port: 0, ...options, onProblem: (message) => problems.push(message) });
  afterTest(() => proxy.close());
  // Not a copy: `health` is a getter.
  return Object.defineProperty(proxy, "problems", { value: problems }) as WatchedProxy;
}

/** The answer of an upstream as bytes. */
export function answerBytes(status: string, headers: readonly Header[], body: Buffer | string = ""): Buffer {
  const framed = ["content-length", "transfer-encoding"].some((name) => valuesOf(headers, name).length > 0);
  const length: readonly Header[] = framed ? [] : [["Content-Length", String(Buffer.from(body).length)]];
  return messageBytes(`HTTP/1.1 ${status}`, [...headers, ...length], body);
}

export const JSON_TYPE: Header = ["content-type", "application/json"];
export const SSE_TYPE: Header = ["Content-Type", "text/event-stream; charset=utf-8"];
