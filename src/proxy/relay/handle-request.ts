/** One request of a client, from its body to the last byte of the answer. */

import type { IncomingMessage, ServerResponse } from "node:http";

import type { Dialect } from "../../base/events/index.ts";
import { messageOf } from "../../base/support/index.ts";
import { isAboutHistory } from "../heal/index.ts";
import { AnswerWatch } from "./answer-watch.ts";
import { decoded, MOST_BODY_BYTES, narrowedCodings } from "./content-coding.ts";
import { Exchange, type Outgoing } from "./exchange.ts";
import { answerError, upstreamFailed } from "./own-answers.ts";
import { pipeThrough } from "./pipe-through.ts";
import { relayAnswer } from "./relay-answer.ts";
import { dialectOf, type Route, upstreamPath } from "./routes.ts";
import type { ProxyMode, ProxyParts } from "./settings.ts";
import { passedHeaders, type Sending, type Upstreams } from "./upstreams.ts";

export interface HandlerParts extends ProxyParts {
  readonly upstreams: Upstreams;
  /** Adds headers of our own to answers. */
  readonly headers: boolean;
}

/** Bodies that are held at the same time; more are piped through. */
const MOST_HELD_BYTES = 256 * 1024 * 1024;
/** How long a ladder may take, and how long the begin of a stream is held for a refusal. */
const LADDER_MS = 10_000;
const HOLD_MS = 1500;
/** Refusals that may be about the history. */
const HEALABLE: ReadonlySet<number> = new Set([400, 404, 422]);
/** Longer ones are no error messages. */
const MOST_ERROR_BYTES = 4 * 1024 * 1024;

let heldBytes = 0;

export async function handleRequest(
  request: IncomingMessage,
  response: ServerResponse,
  given: {
    readonly route: Route;
    readonly rest: string;
    readonly mode: ProxyMode;
    readonly parts: HandlerParts;
  },
): Promise<void> {
  const { route, rest, mode, parts } = given;
  const sending = sendingOf(request, route, rest);
  const dialect = dialectOf(request.method ?? "", rest);
  if (dialect === undefined) return pipeThrough(request, response, sending, parts.upstreams);
  const body = await readBody(request);
  if (body === undefined) return; // the client left
  const gone = new AbortController();
  const exchange = new Exchange(parts, { route, path: rest, dialect, headers: request.headers, mode });
  if (!body.whole) {
    await pipeThrough(request, response, sending, parts.upstreams, body.chunks);
    exchange.end(response.statusCode, "the body is too large to be read", "unread");
    return;
  }
  response.once("close", () => {
    if (!response.headersSent) gone.abort();
  });
  const raw = Buffer.concat(body.chunks);
  try {
    const outgoing = exchange.prepare(raw);
    if ("text" in outgoing) {
      answerError(response, 400, outgoing.text);
      exchange.end(400);
      return;
    }
    await attempt({ request, response, exchange, sending, outgoing, gone, parts });
  } catch (error) {
    exchange.withdraw();
    if (!response.headersSent && !response.destroyed) upstreamFailed(response, route, error);
    else response.destroy();
    const note = gone.signal.aborted ? "the client left" : messageOf(error);
    exchange.end(gone.signal.aborted ? 499 : 502, note, "failed");
  } finally {
    heldBytes -= raw.length;
  }
}

interface Attempt {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly exchange: Exchange;
  readonly sending: Sending;
  readonly outgoing: Outgoing;
  readonly gone: AbortController;
  readonly parts: HandlerParts;
}

/** A refusal as it came. `whole` is false if the provider broke off. */
interface KeptRefusal {
  readonly answer: IncomingMessage;
  readonly bytes: Buffer;
  readonly whole: boolean;
}

async function attempt(given: Attempt): Promise<void> {
  const { request, response, exchange, sending, gone, parts } = given;
  const { clock, upstreams } = parts;
  const began = clock.monotonic();
  const inTime = (): boolean => clock.monotonic() - began < LADDER_MS;
  const dialect = dialectOf(request.method ?? "", sending.path) ?? "openai-responses";
  let { outgoing } = given;
  let first: KeptRefusal | undefined;
  for (;;) {
    let answer: IncomingMessage;
    try {
      answer = await upstreams.send(withBody(sending, outgoing), outgoing.bytes, gone.signal);
    } catch (error) {
      if (first === undefined) throw error;
      return passRefusal(first, given);
    }
    const status = answer.statusCode ?? 502;
    if (HEALABLE.has(status)) {
      const refusal = await readWhole(answer);
      first ??= refusal;
      const next = inTime() ? healed(refusal, exchange) : undefined;
      if (next === undefined) return passRefusal(first, given);
      outgoing = next;
      continue;
    }
    const stream = (answer.headers["content-type"] ?? "").includes("event-stream");
    const watch = watchOf(dialect, answer, stream, exchange);
    const chunks = (answer as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
    const isGood = status >= 200 && status < 300;
    const held =
      isGood && stream && watch !== undefined && exchange.carriesPayloads
        ? await hold(chunks, watch, exchange)
        : [];
    const failed = watch?.refusal;
    if (failed !== undefined && isAboutHistory(failed) && inTime()) {
      const next = exchange.refusedInStream(failed);
      if (next !== undefined) {
        answer.destroy();
        first ??= { answer, bytes: Buffer.concat(held), whole: true };
        outgoing = next;
        continue;
      }
      if (first !== undefined) return passRefusal(first, given);
    }
    if (isGood) exchange.accepted(answer.headers);
    writeHead(response, answer, exchange, parts.headers);
    response.write(NOTHING); // sends the head; `flushHeaders` would encode it as UTF-8
    const isWhole = await relayAnswer({ answer, response, exchange, watch, held, chunks, stream });
    exchange.end(status, isWhole ? undefined : "the answer was cut off");
    return;
  }
}

const NOTHING = Buffer.alloc(0);

function healed({ answer, bytes, whole }: KeptRefusal, exchange: Exchange): Outgoing | undefined {
  if (!whole || bytes.length > MOST_ERROR_BYTES) return undefined;
  const text = decoded(bytes, answer.headers["content-encoding"])?.toString("utf8") ?? "";
  return exchange.refused(answer.statusCode ?? 502, text, plainHeaders(answer));
}

function passRefusal({ answer, bytes, whole }: KeptRefusal, { response, exchange, parts }: Attempt): void {
  exchange.withdraw();
  writeHead(response, answer, exchange, parts.headers);
  if (whole) response.end(bytes);
  else response.write(bytes, () => response.destroy());
  exchange.end(answer.statusCode ?? 502, whole ? undefined : "the answer was cut off");
}

/** Undefined if it cannot be read: the answer passes all the same. */
function watchOf(
  dialect: Dialect,
  { headers }: IncomingMessage,
  stream: boolean,
  exchange: Exchange,
): AnswerWatch | undefined {
  let watch: AnswerWatch | undefined;
  void exchange.aside(() => {
    watch = new AnswerWatch(dialect, { stream, coding: headers["content-encoding"] });
  });
  return watch;
}

/** Refusals may come in the middle of a stream that began well; nothing of its content is delayed (failures.md E12). */
async function hold(
  chunks: AsyncIterator<Buffer>,
  watch: AnswerWatch,
  exchange: Exchange,
): Promise<readonly Buffer[]> {
  const held: Buffer[] = [];
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<"late">((resolve) => {
    timer = setTimeout(() => resolve("late"), HOLD_MS);
  });
  try {
    while (!watch.begun && watch.end === undefined) {
      const next = chunks.next();
      const won = await Promise.race([next, late]).catch(() => "late" as const);
      // A read that is under way, or that has failed, is the next one.
      if (won === "late") {
        pushBack(chunks, next);
        break;
      }
      if (won.done === true) break;
      const { value } = won;
      held.push(value);
      let isRead = false;
      await exchange.aside(async () => {
        await watch.feed(value);
        isRead = true;
      });
      if (!isRead) break;
    }
  } finally {
    clearTimeout(timer);
  }
  return held;
}

function pushBack(chunks: AsyncIterator<Buffer>, pending: Promise<IteratorResult<Buffer>>): void {
  const next = chunks.next.bind(chunks);
  chunks.next = () => {
    chunks.next = next;
    return pending;
  };
}

function sendingOf(request: IncomingMessage, route: Route, rest: string): Sending {
  const headers = passedHeaders(request.rawHeaders, {
    host: () => undefined,
    "x-throughline-mode": () => undefined,
    "x-throughline-token": () => undefined,
    "accept-encoding": narrowedCodings,
  });
  return { url: route.url, method: request.method ?? "GET", path: upstreamPath(route, rest), headers };
}

/** A changed body has its own length and is not compressed. */
function withBody(sending: Sending, { bytes, changed }: Outgoing): Sending {
  const length = String(bytes.length);
  let told = false;
  const headers = passedHeaders(sending.headers, {
    "content-length": () => {
      told = true;
      return length;
    },
    "content-encoding": (value) => (changed ? undefined : value),
  });
  return { ...sending, headers: told ? headers : [...headers, "content-length", length] };
}

function writeHead(
  response: ServerResponse,
  answer: IncomingMessage,
  exchange: Exchange,
  ours: boolean,
): void {
  response.sendDate = false;
  const headers = passedHeaders(answer.rawHeaders);
  if (ours) headers.push("x-throughline", exchange.told, "x-throughline-exchange", exchange.id);
  response.writeHead(answer.statusCode ?? 502, answer.statusMessage, headers);
}

function plainHeaders({ headers }: IncomingMessage): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

/** Undefined if the client left before its body was whole. `whole` is false if it is too large. */
async function readBody(
  request: IncomingMessage,
): Promise<{ readonly chunks: readonly Buffer[]; readonly whole: boolean } | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  const told = Number(request.headers["content-length"] ?? 0);
  if (told > MOST_BODY_BYTES || heldBytes + told > MOST_HELD_BYTES) return { chunks, whole: false };
  return new Promise((resolve) => {
    const done = (whole: boolean | undefined): void => {
      if (whole !== true) heldBytes -= size;
      request.off("data", take);
      request.off("end", ended);
      request.off("close", left);
      resolve(whole === undefined ? undefined : { chunks, whole });
    };
    const take = (chunk: Buffer): void => {
      chunks.push(chunk);
      size += chunk.length;
      heldBytes += chunk.length;
      if (size <= MOST_BODY_BYTES && heldBytes <= MOST_HELD_BYTES) return;
      request.pause();
      done(false);
    };
    const ended = (): void => done(true);
    const left = (): void => done(undefined);
    request.on("data", take);
    request.on("end", ended);
    request.on("close", left);
  });
}

async function readWhole(answer: IncomingMessage): Promise<KeptRefusal> {
  const chunks: Buffer[] = [];
  let whole = true;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) chunks.push(chunk);
  } catch {
    whole = false;
  }
  return { answer, bytes: Buffer.concat(chunks), whole };
}
