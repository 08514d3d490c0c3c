/**
 * A viewer of one session. It follows the stream on a random node, leaves now and then, and comes back to another one
 * with the id of the last event it has seen. What it saw, joined over all its visits, must be the log.
 */

import { createHash } from "node:crypto";

import { headersOf, pause, type RequestParts } from "./requests.ts";

/** A stopped node keeps its connections open and says nothing. */
const QUIET_MS = 3000;
const LEAST_VISIT_MS = 400;
const MOST_VISIT_MS = 5000;
/** How long after the last event a viewer of an old session leaves. */
const RETIRED_MS = 4000;

export class Viewer {
  readonly session: string;
  readonly #parts: RequestParts;
  readonly #over: AbortSignal;
  readonly #seen: string[] = [];
  #lastNews = performance.now();
  #goal: number | undefined;
  #visiting: AbortController | undefined;
  isRetired = false;

  constructor(session: string, parts: RequestParts, over: AbortSignal) {
    this.session = session;
    this.#parts = parts;
    this.#over = over;
  }

  /** A digest of each event, in the order of `seq`. */
  get seen(): readonly string[] {
    return this.#seen;
  }

  /** A promotion took back all but the first events. It leaves, forgets the rest, and comes back. */
  takeBack(count: number): void {
    this.#seen.length = Math.min(this.#seen.length, count);
    this.#visiting?.abort();
  }

  async run(): Promise<void> {
    while (!this.#isDone(this.#over)) await this.#visitOne(this.#over);
  }

  /** Follows until it has seen this many events. */
  async finish(count: number, deadline: AbortSignal): Promise<void> {
    this.#goal = count;
    while (!this.#isDone(deadline)) await this.#visitOne(deadline);
  }

  #isDone(over: AbortSignal): boolean {
    if (over.aborted) return true;
    if (this.#goal !== undefined) return this.#seen.length >= this.#goal;
    return this.isRetired && performance.now() - this.#lastNews > RETIRED_MS;
  }

  async #visitOne(over: AbortSignal): Promise<void> {
    const { random, ledger } = this.#parts;
    const visit = new AbortController();
    this.#visiting = visit;
    const leaveAfter = setTimeout(() => visit.abort(), random.between(LEAST_VISIT_MS, MOST_VISIT_MS));
    let quiet = setTimeout(() => visit.abort(), QUIET_MS);
    const still = (): void => {
      clearTimeout(quiet);
      quiet = setTimeout(() => visit.abort(), QUIET_MS);
    };
    const stop = (): void => visit.abort();
    over.addEventListener("abort", stop);
    ledger.add("viewer visits");
    try {
      await this.#visit(visit.signal, still);
    } catch {
      // The node is gone, or this viewer left.
    } finally {
      clearTimeout(leaveAfter);
      clearTimeout(quiet);
      over.removeEventListener("abort", stop);
      visit.abort();
    }
    await pause(random.between(10, 60));
  }

  async #visit(signal: AbortSignal, still: () => void): Promise<void> {
    const { nodes, random, token, ledger } = this.#parts;
    const node = random.pick(nodes);
    const last = this.#seen.length - 1;
    const response = await fetch(`${node.url}/api/sessions/${this.session}/events`, {
      headers: { ...headersOf(token), ...(last < 0 ? {} : { "last-event-id": String(last) }) },
      signal,
    });
    if (response.status !== 200 || response.body === null) {
      ledger.add(`answer GET /events ${response.status}`);
      await response.body?.cancel();
      return;
    }
    const decoder = new TextDecoder();
    let text = "";
    for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
      if (signal.aborted) return;
      still();
      text += decoder.decode(chunk, { stream: true });
      const frames = text.split("\n\n");
      text = frames.pop() ?? "";
      for (const frame of frames) this.#take(frame, node.name);
      if (this.#goal !== undefined && this.#seen.length >= this.#goal) return;
    }
  }

  #take(frame: string, node: string): void {
    const { ledger } = this.#parts;
    const [, event] = /^event: (\w+)$/m.exec(frame) ?? [];
    const [, id] = /^id: (\d+)$/m.exec(frame) ?? [];
    const [, data = ""] = /^data: (.*)$/m.exec(frame) ?? [];
    if (event === "reset") {
      if (ledger.count("promotions") === 0)
        ledger.violate(
          `node ${node} told a viewer of ${this.session} to start again after ${this.#seen.length} events: ${data}`,
        );
      this.#seen.length = 0;
      ledger.add("viewer resets");
      return;
    }
    if (id === undefined) {
      if (event === undefined && data !== "") ledger.add("deltas seen");
      return;
    }
    this.#lastNews = performance.now();
    if (Number(id) !== this.#seen.length) {
      ledger.violate(
        `node ${node} sent a viewer of ${this.session} event ${id} instead of ${this.#seen.length}`,
      );
      return;
    }
    this.#seen.push(digestOf(data));
  }
}

export function digestOf(text: string): string {
  return createHash("sha1").update(text).digest("base64");
}
