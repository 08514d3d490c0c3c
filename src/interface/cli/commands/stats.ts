/** `throughline stats`: shows what the sessions of this machine used, and what was left out of their requests. */

import { setImmediate } from "node:timers/promises";

import { Command } from "commander";

import { isoTime, messageOf } from "../../../base/support/index.ts";
import type { StoredSession } from "../../../runtime/log/index.ts";
import { readFacts } from "../../../runtime/session/index.ts";
import type { Finish } from "../command-table.ts";
import { costsWith } from "../cost.ts";
import { EXIT } from "../exit-codes.ts";
import { wholeNumber } from "../flag-numbers.ts";
import { openStore, type StoreFlags } from "../open-store.ts";
import { ProgressLine } from "../progress-line.ts";
import { settingsHere } from "../project-trust.ts";
import { stopOnSignals } from "../signals.ts";
import { type Scope, toJson, toText } from "../stats/render.ts";
import { Tally } from "../stats/tally.ts";
import { takesStore } from "../store-flag.ts";
import type { Terminal } from "../terminal.ts";

interface StatsFlags extends StoreFlags {
  readonly days: string;
  readonly all?: boolean;
  readonly here?: boolean;
  readonly json?: boolean;
}

export function statsCommand(terminal: Terminal, finish: Finish): Command {
  return takesStore(
    new Command("stats").description(
      "Show tokens, cost, tools, errors and items left out of requests, per day and model",
    ),
  )
    .option("--days <n>", "cover the last n days", "30")
    .option("--all", "cover all days")
    .option("--here", "count only the sessions of this directory")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      `
Examples:
  throughline stats
  throughline stats --days 7 --here
  throughline stats --all --json | jq .total`,
    )
    .action(async (flags: StatsFlags) => finish(await stats(flags, terminal)));
}

const DAY_MS = 86_400_000;
const DAYS = { least: 1, most: 36_500, use: "a whole number from 1 to 36500, or --all" };

async function stats(flags: StatsFlags, terminal: Terminal): Promise<number> {
  const days = flags.all === true ? undefined : wholeNumber("--days", flags.days, DAYS);
  const now = Date.now();
  const from = days === undefined ? "" : isoTime(now - (days - 1) * DAY_MS).slice(0, 10);
  const store = await openStore(flags);
  const found: StoredSession[] = [];
  for await (const stored of store.list({ summaries: false })) {
    // A session not written to since then adds nothing.
    if (days === undefined || stored.modifiedAt >= Date.parse(from)) found.push(stored);
  }
  const costOf = costsWith(settingsHere(terminal).values);
  const tally = new Tally(from);
  const unreadable: { id: string; problem: string }[] = [];
  const progress = new ProgressLine(terminal);
  let stopped = false;
  const end = stopOnSignals(() => {
    stopped = true;
  });
  let read = 0;
  for (const { id } of found) {
    // Reading is synchronous underneath: without a pause, signals would not be handled.
    if (read % 16 === 0) await setImmediate();
    if (stopped) break;
    read += 1;
    try {
      const facts = await readFacts(store, id, costOf);
      if (flags.here !== true || facts.cwd === process.cwd()) tally.add(facts);
    } catch (error) {
      unreadable.push({ id, problem: messageOf(error) });
    }
    progress.tell(read, found.length, "sessions read");
  }
  progress.clear();
  const what = `${days === undefined ? "all days" : days === 1 ? "today" : `the last ${days} days`}${flags.here === true ? ", this directory" : ""}`;
  const scope: Scope = { what, unreadable, left: found.length - read };
  terminal.stdout.write(
    flags.json === true ? toJson(tally, scope) : toText(tally, scope, process.stdout.columns ?? 80),
  );
  return end() ?? EXIT.ok;
}
