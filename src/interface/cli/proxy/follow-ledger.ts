/**
 * Exchanges that running proxies add to a ledger. Every segment is appended to by one process, so what is new follows what
 * was read; a line that is not complete yet is read again.
 */

import { closeSync, fstatSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";

import { checkedLine, splitLines } from "../../../base/files/index.ts";
import { codeOf, isObject, tryParseJson } from "../../../base/support/index.ts";
import type { ExchangeLine } from "../../../proxy/relay/index.ts";

const EXCHANGE = Buffer.from('{"type":"exchange"');

export class LedgerTail {
  readonly #folder: string;
  /** How much of each segment was read. */
  readonly #read = new Map<string, number>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** What came since the last call, oldest first; at the first call, everything. */
  next(): readonly ExchangeLine[] {
    return this.#names()
      .flatMap((name) => this.#linesOf(name))
      .toSorted((a, b) => a.at - b.at);
  }

  #names(): readonly string[] {
    try {
      return readdirSync(this.#folder).filter((name) => name.endsWith(".jsonl"));
    } catch (error) {
      if (codeOf(error) === "ENOENT") return []; // the first exchange makes it
      throw error;
    }
  }

  #linesOf(name: string): readonly ExchangeLine[] {
    const from = this.#read.get(name) ?? 0;
    const bytes = bytesFrom(join(this.#folder, name), from);
    const found: ExchangeLine[] = [];
    let end = 0;
    for (const { at, line, ended } of splitLines(bytes)) {
      if (!ended) break;
      end = at + line.length + 1;
      if (!line.subarray(0, EXCHANGE.length).equals(EXCHANGE)) continue;
      const value = tryParseJson(checkedLine(line) ?? "");
      if (isObject(value)) found.push(value as unknown as ExchangeLine);
    }
    this.#read.set(name, from + end);
    return found;
  }
}

/** Nothing if the segment is gone or was written anew, without some of its lines. */
function bytesFrom(path: string, from: number): Buffer {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return Buffer.alloc(0);
    throw error;
  }
  try {
    const bytes = Buffer.alloc(Math.max(0, fstatSync(file).size - from));
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, from));
  } finally {
    closeSync(file);
  }
}
