/** `throughline proxy erase`: removes exchanges from a ledger, with everything that was issued in them. */

import { codedError } from "../../../base/support/index.ts";
import {
  eraseLedger,
  type Erasure,
  type ExchangeLine,
  ledgerStatus,
  readExchanges,
} from "../../../proxy/relay/index.ts";
import { amount } from "../amount.ts";
import { asks } from "../ask.ts";
import { EXIT } from "../exit-codes.ts";
import { inertLine } from "../inert-text.ts";
import type { Terminal } from "../terminal.ts";
import { dateText } from "./exchange-words.ts";
import { chosenLedger, type LedgerFlag } from "./proxy-settings.ts";
import { exchangeNamed } from "./show-exchange.ts";

export interface EraseFlags extends LedgerFlag {
  readonly before?: string;
  readonly account?: string;
  readonly exchange?: string;
  readonly all?: boolean;
  readonly yes?: boolean;
}

const REST = "The provider still has what it stores, and so have the client and your backups.";

interface Choice {
  readonly erasure: Erasure;
  /** For people. */
  readonly words: string;
}

export async function eraseExchanges(flags: EraseFlags, terminal: Terminal): Promise<number> {
  const folder = chosenLedger(flags);
  const lines = readExchanges(folder);
  const { erasure, words } = choiceOf(flags, lines, folder);
  const count = countOf(lines, erasure);
  if (count === 0 && ledgerStatus(folder).bytes === 0) {
    terminal.stderr.write(`there is nothing to erase in ${inertLine(folder, 300)}\n`);
    return EXIT.ok;
  }
  // A process that was killed may have left answers whose exchange was not written.
  const told =
    count === 0
      ? `what was issued${words}`
      : `${amount(count, "exchange")}${words}, with what was issued in ${count === 1 ? "it" : "them"}`;
  if (flags.yes !== true && !(await confirmed(told, terminal))) {
    terminal.stderr.write(`would erase ${told}; add --yes to do it\n`);
    return EXIT.usage;
  }
  const gone = eraseLedger(folder, erasure);
  terminal.stdout.write(
    `erased ${amount(gone.exchanges, "exchange")} and ${amount(gone.groups, "answer")}\n`,
  );
  terminal.stderr.write(`${REST}\n`);
  return EXIT.ok;
}

function choiceOf(flags: EraseFlags, lines: readonly ExchangeLine[], folder: string): Choice {
  const { before, account, exchange, all } = flags;
  if (before !== undefined) {
    const time = timeFrom(before);
    return { erasure: { before: time }, words: ` before ${dateText(time)}` };
  }
  if (account !== undefined) {
    if (!lines.some((line) => line.account === account))
      throw codedError(
        "exchange_not_found",
        `there is no exchange of the account "${inertLine(account, 60)}" in ${inertLine(folder, 200)}: throughline proxy show ID shows the account of an exchange`,
      );
    return { erasure: { account }, words: ` of the account ${inertLine(account, 60)}` };
  }
  if (exchange !== undefined) {
    const { id } = exchangeNamed(exchange, lines, folder);
    return { erasure: { exchange: id }, words: ` (${inertLine(id, 40)})` };
  }
  if (all === true) return { erasure: {}, words: "" };
  throw codedError(
    "usage",
    "say what to erase: --before DATE, --account FINGERPRINT, --exchange ID or --all",
  );
}

/** A day begins at midnight of this machine's clock. */
function timeFrom(text: string): number {
  const [, year = "", month = "", day = "", rest = ""] =
    /^(\d{4})-(\d\d)-(\d\d)(T\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d)?)?$/.exec(text) ?? [];
  const midnight = new Date(Number(year), Number(month) - 1, Number(day));
  const isDay = midnight.getMonth() === Number(month) - 1 && midnight.getDate() === Number(day);
  const time = rest === "" ? midnight.getTime() : Date.parse(text);
  if (year !== "" && isDay && !Number.isNaN(time)) return time;
  throw codedError(
    "usage",
    `--before ${inertLine(text, 60)}: use a date such as 2026-08-31, or a time such as 2026-08-31T14:00Z`,
  );
}

function countOf(lines: readonly ExchangeLine[], { before, account, exchange }: Erasure): number {
  return lines.filter(
    (line) =>
      (before === undefined || line.at < before) &&
      (account === undefined || line.account === account) &&
      (exchange === undefined || line.id === exchange),
  ).length;
}

async function confirmed(told: string, terminal: Terminal): Promise<boolean> {
  return terminal.interactive && (await asks(`Erase ${told} for good? [y/N] `, terminal));
}
