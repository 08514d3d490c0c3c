/** `throughline proxy show`: one exchange, with every decision and its reason. */

import { codedError } from "../../../base/support/index.ts";
import { type Decision, type ExchangeLine, readExchanges } from "../../../proxy/relay/index.ts";
import { amount } from "../amount.ts";
import { inertLine } from "../inert-text.ts";
import { sizeOf } from "../store-words.ts";
import { printJson, printLines, type Terminal } from "../terminal.ts";
import { dateText, exchangeText } from "./exchange-words.ts";
import { chosenLedger, type LedgerFlag } from "./proxy-settings.ts";

export interface ShowFlags extends LedgerFlag {
  readonly json?: boolean;
}

export function showExchange(id: string, flags: ShowFlags, { stdout }: Terminal): void {
  const folder = chosenLedger(flags);
  const line = exchangeNamed(id, readExchanges(folder), folder);
  if (flags.json === true) printJson(stdout, line);
  else printLines(stdout, textOf(line));
}

const MOST_NAMED = 5;

/** By its id, or by a prefix that no other exchange has. */
export function exchangeNamed(id: string, lines: readonly ExchangeLine[], folder: string): ExchangeLine {
  const found = id === "" ? [] : lines.filter((line) => line.id.startsWith(id));
  const [first, ...more] = found;
  const exact = found.find((line) => line.id === id);
  if (exact !== undefined) return exact;
  if (first === undefined)
    throw codedError(
      "exchange_not_found",
      `there is no exchange "${inertLine(id, 60)}" in ${inertLine(folder, 200)}: throughline proxy log shows the last ones`,
    );
  if (more.length === 0) return first;
  const names = found.slice(0, MOST_NAMED).map((line) => inertLine(line.id, 40));
  throw codedError(
    "exchange_ambiguous",
    `${found.length} exchanges begin with "${inertLine(id, 60)}": ${names.join(", ")}${found.length > MOST_NAMED ? ", …" : ""}. Give more of the id`,
  );
}

function textOf(line: ExchangeLine): readonly string[] {
  const { carried, restored, restorable, attempts, mode, requestBytes, sentBytes, decisions, refusals } =
    line;
  return [
    `${inertLine(line.id, 40)}  ${dateText(line.at)}`,
    exchangeText(line),
    row("path", inertLine(line.path, 300)),
    row("client", inertLine(line.client ?? "it does not say", 100)),
    row("account", inertLine(line.account, 64)),
    row("mode", mode),
    row(
      "request",
      `${sizeOf(requestBytes)} came, ${sizeOf(sentBytes)} sent${line.stream === true ? ", streamed" : ""}`,
    ),
    row("attempts", String(attempts)),
    row(
      "thoughts",
      restorable === 0
        ? "none that could go back"
        : `${carried} of ${restorable} came, ${carried + restored} of ${restorable} were sent`,
    ),
    row("answer", line.recorded ? "in the ledger" : "not in the ledger"),
    ...(line.note === undefined ? [] : [row("note", inertLine(line.note, 300))]),
    "",
    decisions.length === 0 ? "No answer of the history was known again." : "Decisions:",
    ...decisions.map(decisionText),
    ...(refusals.length === 0 ? [] : ["", "Refusals:"]),
    ...refusals.flatMap(({ status, class: kind, message, repair }) => [
      `  ${status} ${inertLine(kind, 40)}: ${inertLine(message, 300)}`,
      `    ${repair === undefined ? "passed on to the client" : `repaired: ${inertLine(repair, 300)}`}`,
    ]),
  ];
}

function row(name: string, value: string): string {
  return `${name.padEnd(9)} ${value}`;
}

function decisionText({ where, what, why, thoughts, tier, group }: Decision): string {
  const deed = thoughts === 0 ? "nothing put back" : `${what} ${amount(thoughts, "thought")}`;
  const because = why === undefined ? "" : `: ${inertLine(why, 200)}`;
  const known = tier === undefined ? [] : [`known by ${inertLine(tier, 40)}`];
  const from = group === undefined ? [] : [`issued in ${inertLine(group, 40)}`];
  const evidence = [...known, ...from].join(", ");
  return `  ${inertLine(where, 60)}  ${deed}${because}${evidence === "" ? "" : ` (${evidence})`}`;
}
