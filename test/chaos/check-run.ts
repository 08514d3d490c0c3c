/** Compares the logs with everything that was acknowledged, seen and done. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type { LoggedEvent } from "../../src/base/events/index.ts";
import { IDEMPOTENT_TOOL } from "./child-plan.ts";
import type { ChaosDatabase } from "./database.ts";
import type { Ledger, PromisedTurn } from "./ledger.ts";
import type { LogBook } from "./log-book.ts";
import { digestOf, type Viewer } from "./viewer.ts";

export interface CheckParts {
  readonly ledger: Ledger;
  readonly book: LogBook;
  readonly database: ChaosDatabase;
  readonly viewers: readonly Viewer[];
  /** False if the run was cut short by a violation: then not everything has ended. */
  readonly isComplete: boolean;
}

export async function checkRun(parts: CheckParts): Promise<void> {
  const { ledger, book } = parts;
  for (const [id, at] of ledger.sessions)
    if (!book.logs.has(id) && !ledger.mayBeLost(at))
      ledger.violate(`session ${id} was acknowledged (201) and is not there`);
  for (const [id, { events, isDamaged }] of book.logs) {
    ledger.add("events", events.length);
    if (!isDamaged) checkCalls(ledger, id, events);
  }
  const starts = startsOf(book);
  for (const turn of ledger.turns.values()) checkTurn(parts, turn);
  checkDecisions(parts);
  checkAcks(parts);
  await checkEffects(parts, starts, checkRuns(parts, starts));
  for (const viewer of parts.viewers) checkViewer(parts, viewer);
}

/** Notices that say why a turn was interrupted for good. */
const GIVEN_UP: ReadonlySet<string> = new Set(["turn_abandoned", "store_restored"]);

/** Every call has at most one start and one result, and every ended turn has a result for each of its calls. */
function checkCalls(ledger: Ledger, id: string, events: readonly LoggedEvent[]): void {
  const starts = new Map<string, number>();
  const results = new Map<string, number>();
  const names = new Map<string, string>();
  let epoch = 0;
  let open: string | undefined;
  const givenUp = new Set(
    events.flatMap((event) => (event.type === "notice" && GIVEN_UP.has(event.code) ? [event.turn] : [])),
  );
  const resumed = new Set<string>();
  for (const event of events) {
    if (event.epoch > epoch && open !== undefined) {
      ledger.add("takeovers");
      if (event.turn === open) resumed.add(open);
    }
    epoch = event.epoch;
    if (event.turn !== undefined && event.type !== "turn_end") open = event.turn;
    if (event.type === "turn_end") open = undefined;
    if (event.type === "tool_call") names.set(`${event.response} ${event.callId}`, event.name);
    if (event.type === "tool_start") {
      ledger.add("tool starts");
      starts.set(
        `${event.response} ${event.callId}`,
        (starts.get(`${event.response} ${event.callId}`) ?? 0) + 1,
      );
    }
    if (event.type === "tool_result") {
      if (event.status === "outcome_unknown") ledger.add("unknown outcomes");
      results.set(
        `${event.response} ${event.callId}`,
        (results.get(`${event.response} ${event.callId}`) ?? 0) + 1,
      );
    }
    if (event.type === "turn_end") {
      ledger.add(`turns ${event.status}`);
      if (event.status === "failed" || event.status === "incomplete")
        ledger.violate(`turn ${event.turn} ended ${event.status}, and no model or tool had a fault`, event);
      if (event.status === "interrupted" && !givenUp.has(event.turn))
        ledger.violate(`turn ${event.turn} ended interrupted and was not given up`, event);
      if (resumed.has(event.turn) && event.status === "completed") ledger.add("resumed turns");
    }
    if (event.type === "notice") ledger.add(`notice ${event.code}`);
  }
  for (const [call, count] of starts)
    if (count > 1 && names.get(call) !== IDEMPOTENT_TOOL)
      ledger.violate(`call ${call} of ${id} was started ${count} times`);
  for (const [call, count] of results)
    if (count > 1) ledger.violate(`call ${call} of ${id} has ${count} results`);
}

/** The tool of each idempotency key that was started. */
function startsOf(book: LogBook): ReadonlyMap<string, string> {
  const starts = new Map<string, string>();
  for (const { events } of book.logs.values())
    for (const event of events) if (event.type === "tool_start") starts.set(event.idempotencyKey, event.tool);
  return starts;
}

/** An accepted turn is there once and ended; an acknowledged cancel holds; nothing is cancelled that nobody cancelled. */
function checkTurn(
  { ledger, book, isComplete }: CheckParts,
  { session, turn, acceptedAt, cancel, cancelledAt }: PromisedTurn,
): void {
  const all = book.logs.get(session)?.events ?? [];
  const events = all.filter((event) => event.turn === turn);
  const messages = all.filter(
    (event) => event.type === "user_message" && event.by === "person" && (event.steer ?? event.turn) === turn,
  ).length;
  const end = book.endOf(turn);
  const hasJoined = book.joined.has(turn);
  if (hasJoined) ledger.add("messages that joined a turn");
  if (hasJoined && book.ends.has(turn)) ledger.violate(`turn ${turn} joined another and ended by itself too`);
  const accepted = acceptedAt !== undefined && !(ledger.mayBeLost(acceptedAt) && end === undefined);
  if (accepted) ledger.add("turns");
  if (messages > 1) ledger.violate(`the message of turn ${turn} is there ${messages} times`);
  if (accepted && end === undefined && isComplete)
    ledger.violate(
      `turn ${turn} was accepted (202) and never ended`,
      events.map(({ seq, type }) => `${seq} ${type}`),
    );
  if (accepted && end !== undefined && messages === 0 && end !== "cancelled")
    ledger.violate(`turn ${turn} ended ${end} and has no message`);
  const mustBeCancelled = cancel === "acknowledged" && !ledger.mayBeLost(cancelledAt);
  if (mustBeCancelled && end !== "cancelled" && (isComplete || end !== undefined))
    ledger.violate(`the cancel of turn ${turn} was acknowledged (200), and it ended ${String(end)}`);
  if (end === "cancelled" && !hasJoined && !isCancelled(ledger, book, turn))
    ledger.violate(`turn ${turn} was cancelled by nobody`);
}

/** Somebody sent a cancel of this turn, or of a message that has joined it. */
function isCancelled(ledger: Ledger, book: LogBook, turn: string): boolean {
  const ids = [turn, ...[...book.joined].flatMap(([id, host]) => (host === turn ? [id] : []))];
  return ids.some((id) => (ledger.turns.get(id)?.cancel ?? "none") !== "none");
}

/** The log has every acknowledged decision, and no tool was started without one that allows it. */
function checkDecisions({ ledger, book }: CheckParts): void {
  const found = new Map<string, string>();
  for (const [id, { events }] of book.logs)
    for (const event of events) {
      if (!("callId" in event)) continue;
      const key = `${id} ${event.response} ${event.callId}`;
      if (event.type === "permission_decision") {
        // A call that runs again, because its tool is idempotent, is allowed by the policy again.
        if (found.has(key) && event.by === "person") ledger.violate(`call ${key} was decided twice`);
        found.set(key, event.decision ?? "deny");
      }
      if (event.type === "tool_start" && found.get(key) !== "allow")
        ledger.violate(`call ${key} was started without being allowed`);
    }
  for (const { session, response, callId, decision, at } of ledger.decisions) {
    if (ledger.mayBeLost(at)) continue;
    const logged = found.get(`${session} ${response} ${callId}`);
    if (logged !== decision)
      ledger.violate(
        `"${decision}" for call ${callId} of ${session} was acknowledged, and the log has ${String(logged)}`,
      );
  }
}

/** Every event whose append was acknowledged is in its place. */
function checkAcks({ ledger, book }: CheckParts): void {
  for (const line of linesOf(ledger.folder, /^acks-/)) {
    const [session = "", seq = "", id, at] = line.split(" ");
    ledger.add("acknowledged events");
    if (ledger.mayBeLost(Number(at))) continue;
    const found = book.logs.get(session);
    if (found?.isDamaged !== true && found?.events[Number(seq)]?.id !== id)
      ledger.violate(`event ${seq} of ${session} was acknowledged as ${id} and is not there`);
  }
}

/**
 * No tool ran twice for a call, and none without a start in the log. Returns the runs whose start a promotion may have
 * taken back after it was acknowledged.
 */
function checkRuns({ ledger, book }: CheckParts, starts: ReadonlyMap<string, string>): ReadonlySet<string> {
  const runs = new Map<string, number>();
  const lost = new Set<string>();
  for (const line of linesOf(ledger.folder, /^ran-/)) {
    const [key = "", tool, at] = line.split(" ");
    ledger.add("tool runs");
    const count = (runs.get(key) ?? 0) + 1;
    runs.set(key, count);
    if (count > 1 && tool !== IDEMPOTENT_TOOL)
      ledger.violate(`the tool ${tool} ran ${count} times for ${key}`);
    if (count > 1 && tool === IDEMPOTENT_TOOL) ledger.add("idempotent runs again");
    if (starts.has(key)) continue;
    if (ledger.mayBeLost(Number(at))) lost.add(key);
    else ledger.violate(`the tool ${tool} ran for ${key}, which the log does not know as started`);
  }
  for (const [id, { events }] of book.logs) {
    const keys = new Map(
      events.flatMap((event) =>
        event.type === "tool_start"
          ? [[`${event.response} ${event.callId}`, event.idempotencyKey] as const]
          : [],
      ),
    );
    for (const event of events)
      if (event.type === "tool_result" && event.status === "ok") {
        const key = keys.get(`${event.response} ${event.callId}`) ?? "";
        if (!runs.has(key)) ledger.violate(`result ${event.seq} of ${id} says ok, and its tool did not run`);
      }
  }
  return lost;
}

async function checkEffects(
  { ledger, database }: CheckParts,
  starts: ReadonlyMap<string, string>,
  lost: ReadonlySet<string>,
): Promise<void> {
  const rows = await database.sql(
    "select key, min(tool) as tool, count(*)::int as count from chaos.effects group by key",
  );
  for (const { key, tool, count } of rows) {
    ledger.add("effects", Number(count));
    if (Number(count) > 1 && tool !== IDEMPOTENT_TOOL)
      ledger.violate(`the effect of ${String(key)} is there ${String(count)} times`);
    if (!starts.has(String(key)) && !lost.has(String(key)))
      ledger.violate(`the effect of ${String(key)} has no start in the log`);
  }
}

/** What a viewer saw, joined over its visits, is the log. */
function checkViewer({ ledger, book }: CheckParts, viewer: Viewer): void {
  const log = book.logs.get(viewer.session);
  if (log === undefined || log.isDamaged) return; // told already, or taken back
  const wrong = log.lines.findIndex((line, seq) => viewer.seen[seq] !== digestOf(line));
  if (wrong !== -1)
    ledger.violate(
      wrong < viewer.seen.length
        ? `a viewer of ${viewer.session} saw another event ${wrong} than the log has`
        : `a viewer of ${viewer.session} saw ${viewer.seen.length} of ${log.lines.length} events`,
    );
  else if (viewer.seen.length > log.lines.length)
    ledger.violate(`a viewer of ${viewer.session} saw ${viewer.seen.length} events of ${log.lines.length}`);
}

function* linesOf(folder: string, names: RegExp): Generator<string> {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder).filter((one) => names.test(one)))
    for (const line of readFileSync(join(folder, name), "utf8").split("\n")) if (line !== "") yield line;
}
