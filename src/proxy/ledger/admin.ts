/** What a person does with a ledger: look at exchanges, sum them up, erase. */

import { statSync } from "node:fs";
import { join } from "node:path";

import { codedError, isObject } from "../../base/support/index.ts";
import type { ExchangeLine, Group } from "./records.ts";
import { type LedgerDamage, readSegments, rewriteSegment, segmentNames, writerOf } from "./segments.ts";

/** The exchanges of a ledger, oldest first. */
export function readExchanges(folder: string): readonly ExchangeLine[] {
  const lines: ExchangeLine[] = [];
  for (const { head } of readSegments(folder, [], isExchange)) lines.push(head as unknown as ExchangeLine);
  return lines.toSorted((a, b) => a.at - b.at);
}

const EXCHANGE = Buffer.from('{"type":"exchange"');

function isExchange(line: Buffer): boolean {
  return line.subarray(0, EXCHANGE.length).equals(EXCHANGE);
}

/** What is in a ledger, and whether it is sound. */
export interface LedgerStatus {
  readonly groups: number;
  readonly exchanges: number;
  readonly bytes: number;
  readonly segments: number;
  readonly damage: readonly LedgerDamage[];
  /** Processes that write to it. */
  readonly writers: readonly number[];
}

/** Reads a whole ledger and counts. */
export function ledgerStatus(folder: string): LedgerStatus {
  const damage: LedgerDamage[] = [];
  let [groups, exchanges] = [0, 0];
  for (const { head } of readSegments(folder, damage)) {
    if (head["type"] === "group") groups += 1;
    else if (head["type"] === "exchange") exchanges += 1;
  }
  const names = segmentNames(folder);
  return {
    groups,
    exchanges,
    bytes: names.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0),
    segments: names.length,
    damage,
    writers: writersOf(names),
  };
}

function writersOf(names: readonly string[]): readonly number[] {
  return [...new Set(names.flatMap((name) => writerOf(name) ?? []))];
}

/** What to erase: everything before a time, of an account, or of one exchange; all of it if nothing is said. */
export interface Erasure {
  readonly before?: number | undefined;
  readonly account?: string | undefined;
  readonly exchange?: string | undefined;
}

/** Writes segments anew, each complete or not at all. Returns how many answers and exchanges went. */
export function eraseLedger(
  folder: string,
  erasure: Erasure,
): { readonly groups: number; readonly exchanges: number } {
  const names = segmentNames(folder);
  const [writer] = writersOf(names);
  if (writer !== undefined)
    throw codedError(
      "ledger_in_use",
      `a proxy uses this ledger (process ${writer}). Stop it first, then erase again`,
    );
  const gone = new Set<string>();
  let [groups, exchanges] = [0, 0];
  for (const { head } of readSegments(folder, [])) {
    const { type, id } = head;
    if ((type !== "group" && type !== "exchange" && type !== "asked") || !isMeant(head, erasure)) continue;
    if (type === "group") groups += 1;
    else if (type === "exchange") exchanges += 1;
    gone.add(String(id));
  }
  const all = erasure.before === undefined && erasure.account === undefined && erasure.exchange === undefined;
  for (const name of names)
    rewriteSegment(folder, name, (head) => {
      if (all) return false;
      if (head["type"] === "pin" && gone.has(String(head["group"]))) return false;
      return !gone.has(String(head["id"]));
    });
  return { groups, exchanges };
}

function isMeant(head: object, { before, account, exchange }: Erasure): boolean {
  if (!isObject(head)) return false;
  const { at, id, account: own } = head as unknown as Pick<Group, "at" | "id" | "account">;
  if (before !== undefined && at >= before) return false;
  if (account !== undefined && own !== account) return false;
  return exchange === undefined || id === exchange;
}
