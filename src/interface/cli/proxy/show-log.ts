/** `throughline proxy log`: the exchanges of a ledger, one line each. */

import { setTimeout } from "node:timers/promises";

import { type ExchangeLine, readExchanges } from "../../../proxy/relay/index.ts";
import { EXIT } from "../exit-codes.ts";
import { ABOVE_ZERO, wholeNumber } from "../flag-numbers.ts";
import { inertJson, inertLine } from "../inert-text.ts";
import { stopOnSignals } from "../signals.ts";
import { printLines, type Terminal } from "../terminal.ts";
import { whenUnread } from "../unread-output.ts";
import { dateText, exchangeText } from "./exchange-words.ts";
import { LedgerTail } from "./follow-ledger.ts";
import { chosenLedger, type LedgerFlag } from "./proxy-settings.ts";

export interface LogFlags extends LedgerFlag {
  readonly follow?: boolean;
  readonly json?: boolean;
  readonly limit: string;
}

/** How often new exchanges are looked for. */
const LOOK_MS = 200;

export async function showLog(flags: LogFlags, terminal: Terminal): Promise<number> {
  const limit = wholeNumber("--limit", flags.limit, ABOVE_ZERO);
  const folder = chosenLedger(flags);
  const print = (lines: readonly ExchangeLine[]): void =>
    printLines(
      terminal.stdout,
      lines.map((line) => (flags.json === true ? jsonLine(line, terminal) : rowOf(line))),
    );
  if (flags.follow === true) return follow(new LedgerTail(folder), limit, print);
  const lines = readExchanges(folder).slice(-limit);
  if (lines.length === 0)
    terminal.stderr.write(
      `There are no exchanges in ${inertLine(folder, 300)} yet. Start throughline proxy and send a request through it.\n`,
    );
  print(lines);
  return EXIT.ok;
}

async function follow(
  tail: LedgerTail,
  limit: number,
  print: (lines: readonly ExchangeLine[]) => void,
): Promise<number> {
  const stopping = new AbortController();
  const ended = stopOnSignals(() => stopping.abort());
  const unread = whenUnread(() => stopping.abort());
  print(tail.next().slice(-limit));
  for (;;) {
    await setTimeout(LOOK_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
    if (stopping.signal.aborted) break;
    print(tail.next());
  }
  return unread() ?? (ended() === EXIT.hungUp ? EXIT.hungUp : EXIT.ok);
}

function rowOf(line: ExchangeLine): string {
  return `${inertLine(line.id, 40)}  ${dateText(line.at)}  ${exchangeText(line)}`;
}

function jsonLine(line: ExchangeLine, { stdout }: Terminal): string {
  const json = JSON.stringify(line);
  return stdout.isTTY === true ? inertJson(json) : json;
}
