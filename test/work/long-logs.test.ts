/**
 * Every reader of a whole log takes twice as long for twice as many events, not four times, however the events are
 * spread over turns, steps, attempts, responses and branches.
 */

import { describe, expect, test } from "vitest";

import type { LoggedEvent } from "../../src/base/events/index.ts";
import { sessionText } from "../../src/interface/cli/session-text.ts";
import { blocksOf } from "../../src/interface/fragments/index.ts";
import { factsOf } from "../../src/runtime/facts/index.ts";
import { activePath, Fold } from "../../src/runtime/fold/index.ts";
import { buildTree } from "../../src/runtime/session/index.ts";
import { walksOf } from "./count-walks.ts";

const usage = { inputTokens: 1, cachedTokens: 0, outputTokens: 1, reasoningTokens: 1 };
const origin = { provider: "p", dialect: "openai-responses", model: "m", endpoint: "e", credential: "c" };

/** A log without its file: the common fields of events, and a short way to write those needed here. */
class Written {
  readonly events: LoggedEvent[] = [];

  put(fields: Readonly<Record<string, unknown>>): number {
    const seq = this.events.length;
    const envelope = { v: 1, seq, id: `ev_${seq}`, at: "2026-01-01T00:00:00.000Z", epoch: 1 };
    this.events.push({ ...envelope, ...fields } as unknown as LoggedEvent);
    return seq;
  }

  message(turn: string): number {
    return this.put({
      type: "user_message",
      turn,
      by: "person",
      content: [{ type: "text", text: "Go on." }],
    });
  }

  start(turn: string, step: number, more: object = {}): string {
    const response = `rsp_${this.events.length}`;
    this.put({ type: "response_start", turn, response, step, attempt: 1, origin, ...more });
    return response;
  }

  thought(turn: string, response: string, outputIndex = 0): number {
    const parts = [{ kind: "summary", text: "**Looking**" }];
    return this.put({ type: "reasoning", turn, response, outputIndex, parts, durationMs: 1, item: "{}" });
  }

  call(turn: string, response: string, outputIndex: number, callId: string): void {
    this.put({ type: "tool_call", turn, response, outputIndex, callId, name: "look", arguments: "{}" });
  }

  result(turn: string, response: string, callId: string, text = "seen"): void {
    this.put({ type: "tool_start", turn, response, callId });
    this.put({ type: "tool_result", turn, response, callId, status: "ok", text, durationMs: 1 });
  }

  end(turn: string, response: string, status = "completed"): void {
    this.put({ type: "response_end", turn, response, status, durationMs: 1, usage });
  }

  turnEnd(turn: string): number {
    return this.put({ type: "turn_end", turn, status: "completed", steps: 1, usage, durationMs: 1 });
  }

  shortTurn(turn: string): number {
    this.message(turn);
    const response = this.start(turn, 1);
    this.thought(turn, response);
    this.end(turn, response);
    return this.turnEnd(turn);
  }
}

const SHAPES: Readonly<Record<string, (log: Written, size: number) => void>> = {
  "many short turns": (log, size) => {
    for (let turn = 0; turn < size; turn += 1) log.shortTurn(`tn_${turn}`);
  },
  "one turn of many steps": (log, size) => {
    log.message("tn");
    for (let step = 1; step <= size; step += 1) {
      const response = log.start("tn", step);
      log.call("tn", response, 0, `call_${step}`);
      log.end("tn", response);
      log.result("tn", response, `call_${step}`);
    }
    log.turnEnd("tn");
  },
  "many attempts of one step": (log, size) => {
    log.message("tn");
    for (let attempt = 1; attempt <= size; attempt += 1) log.end("tn", log.start("tn", 1), "cut");
    log.turnEnd("tn");
  },
  "many calls in one response": (log, size) => {
    log.message("tn");
    const response = log.start("tn", 1);
    for (let call = 0; call < size; call += 1) log.call("tn", response, call, `call_${call}`);
    log.end("tn", response);
    for (let call = 0; call < size; call += 1) log.result("tn", response, `call_${call}`);
    log.turnEnd("tn");
  },
  "many thoughts in one response": (log, size) => {
    log.message("tn");
    const response = log.start("tn", 1);
    for (let thought = 0; thought < size; thought += 1) log.thought("tn", response, thought);
    log.end("tn", response);
    log.turnEnd("tn");
  },
  "an edit after every turn": (log, size) => {
    for (let turn = 0; turn < size; turn += 1) {
      const end = log.shortTurn(`tn_${turn}`);
      log.put({ type: "branch", turn: `edit_${turn}`, to: end - 5, why: "edit" });
      log.shortTurn(`edit_${turn}`);
    }
  },
  "back and forth between two branches": (log, size) => {
    let end = log.shortTurn("tn_first");
    for (let turn = 0; turn < size; turn += 1) {
      log.put({ type: "branch", to: Math.max(0, end - 6), why: "checkout" });
      end = log.shortTurn(`tn_${turn}`);
      log.put({ type: "branch", to: end - 6, why: "checkout" });
      log.put({ type: "branch", to: end, why: "checkout" });
    }
  },
  "a compaction after every turn": (log, size) => {
    for (let turn = 0; turn < size; turn += 1) {
      const to = log.shortTurn(`tn_${turn}`);
      const aside = `aside_${turn}`;
      log.put({ type: "branch", turn: aside, to, why: "compaction" });
      log.put({ type: "branch", turn: aside, to, why: "compaction" });
      log.put({ type: "compaction", turn: aside, before: to - 4, summary: "short" });
      log.turnEnd(aside);
    }
  },
  "many omitted thoughts of another model": (log, size) => {
    const kept: (readonly [number, number])[] = [];
    for (let turn = 0; turn < size; turn += 1) {
      const end = log.shortTurn(`tn_${turn}`);
      kept.push([end - 2, end - 2]);
    }
    log.message("tn_last");
    log.start("tn_last", 1, { leftOut: [{ reason: "foreign_origin", seqs: kept }] });
  },
};

const READERS: Readonly<Record<string, (events: readonly LoggedEvent[]) => unknown>> = {
  "the active path": activePath,
  "the fold": (events) => new Fold().add(events),
  "the facts": (events) => factsOf(events),
  "the blocks": (events) => blocksOf(events, { writerAlive: false }),
  "the tree": buildTree,
};

describe.each(Object.entries(SHAPES))("%s", (_shape, write) => {
  test.each(Object.entries(READERS))("cost %s twice as much for twice as many", (_reader, read) => {
    const [once, twice] = [60, 120].map((size) => {
      const log = new Written();
      log.put({ type: "session_start", session: "s", root: "s", writer: "w" });
      write(log, size);
      return walksOf(() => read(log.events));
    });
    expect(twice).toBeLessThan(2.2 * (once as number) + 100);
  });
});

test("one line of a long tool result is made from its beginning", () => {
  const log = new Written();
  log.message("tn");
  const response = log.start("tn", 1);
  log.call("tn", response, 0, "call_1");
  log.end("tn", response);
  log.result("tn", response, "call_1", "a word ".repeat(100_000));
  const blocks = blocksOf(log.events, { writerAlive: false });
  expect(walksOf(() => sessionText(blocks, { reasoning: "title" }))).toBeLessThan(10_000);
});
