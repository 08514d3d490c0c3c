/**
 * Passes an answer on as it came, chunk by chunk. The last bytes of an answer leave after the ledger has it: a client
 * never has an answer that a killed proxy would not know again.
 */

import type { IncomingMessage, ServerResponse } from "node:http";

import type { AnswerWatch } from "./answer-watch.ts";
import type { Exchange } from "./exchange.ts";

/** How long a slow disk may delay the last bytes. */
const RECORD_MS = 50;
/** How long the end of a complete answer is awaited after its client has gone. */
const LINGER_MS = 2000;

export interface RelayedAnswer {
  readonly answer: IncomingMessage;
  readonly response: ServerResponse;
  readonly exchange: Exchange;
  /** Undefined if the answer is not read. */
  readonly watch: AnswerWatch | undefined;
  /** Chunks that were read before it was clear what to do. */
  readonly held: readonly Buffer[];
  readonly chunks: AsyncIterator<Buffer>;
  /** An event stream; the end of anything else is only known when no more bytes come. */
  readonly stream: boolean;
}

/** Resolves when everything was passed on, or the client or the provider has gone: whether it was everything. */
export async function relayAnswer(given: RelayedAnswer): Promise<boolean> {
  const { answer, response, exchange, watch, held, chunks, stream } = given;
  let waiting: Buffer | undefined;
  let recorded = false;
  const pass = async (chunk: Buffer): Promise<void> => {
    if (response.destroyed || response.write(chunk)) return;
    await writable(response);
  };
  const record = async (): Promise<void> => {
    if (recorded) return;
    recorded = true;
    if (watch !== undefined) await atMost(exchange.record(watch), RECORD_MS);
  };
  const take = async (chunk: Buffer): Promise<void> => {
    if (!stream) {
      if (waiting !== undefined) await pass(waiting);
      waiting = chunk;
      return;
    }
    if (isOver(watch)) await record();
    await pass(chunk);
  };
  const linger = leaveWithClient(answer, response, watch);
  try {
    for (const chunk of held) await take(chunk);
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
      const chunk = next.value;
      await exchange.aside(() => watch?.feed(chunk));
      await take(chunk);
    }
    await exchange.aside(() => watch?.close());
    await record();
    if (waiting !== undefined) await pass(waiting);
    response.end();
    return !response.destroyed;
  } catch {
    // The provider's cut is passed on as a cut.
    await exchange.aside(() => watch?.close());
    await record();
    response.destroy();
    return false;
  } finally {
    clearTimeout(linger());
    await exchange.aside(() => {
      if (watch !== undefined && !watch.seen && watch.answer === undefined) exchange.withdraw();
    });
  }
}

/** A person who leaves wants no more tokens; but an answer that is complete is worth the last few bytes. */
function leaveWithClient(
  answer: IncomingMessage,
  response: ServerResponse,
  watch: AnswerWatch | undefined,
): () => NodeJS.Timeout | undefined {
  let timer: NodeJS.Timeout | undefined;
  response.once("close", () => {
    if (response.writableFinished || answer.complete) return;
    if (watch?.isWhole !== true) answer.destroy();
    else timer = setTimeout(() => answer.destroy(), LINGER_MS);
  });
  return () => timer;
}

function isOver(watch: AnswerWatch | undefined): boolean {
  return watch?.end !== undefined;
}

/** Resolves when more can be written, or nobody reads any more. */
function writable(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off("drain", done);
      response.off("close", done);
      resolve();
    };
    response.on("drain", done);
    response.on("close", done);
  });
}

async function atMost(work: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
