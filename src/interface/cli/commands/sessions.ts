/** `throughline sessions`: find, read, rename and remove what was kept. */

import { join } from "node:path";

import { Command, Option } from "commander";

import { codedError, messageOf } from "../../../base/support/index.ts";
import { factsOf } from "../../../runtime/facts/index.ts";
import type { Log, Store, StoredSession } from "../../../runtime/log/index.ts";
import { sessionsFolder } from "../../config/index.ts";
import { blocksOf } from "../../fragments/index.ts";
import { crashLeft } from "../crash-left.ts";
import { excerptAt } from "../excerpt.ts";
import { EXIT } from "../exit-codes.ts";
import { ABOVE_ZERO, wholeNumber } from "../flag-numbers.ts";
import { inertLine } from "../inert-text.ts";
import { openEndOf } from "../open-end.ts";
import {
  type LastFlag,
  readSession,
  sessionNamed,
  sessionStore,
  takesSession,
  withLog,
} from "../session-argument.ts";
import { rowsOf, rowText, type SessionRow } from "../session-rows.ts";
import { sessionLines, type SessionTextOptions } from "../session-text.ts";
import { stopOnSignals } from "../signals.ts";
import { printJson, printJsonList, printLines, type Terminal } from "../terminal.ts";
import { eraseCommand } from "./erase.ts";
import { exportCommand } from "./export.ts";
import { importCommand } from "./import.ts";

export function sessionsCommand(terminal: Terminal, finish: (code: number) => void): Command {
  const sessions = new Command("sessions")
    .description("list, read, search, rename and remove sessions")
    .addHelpText(
      "after",
      `
Examples:
  throughline sessions                       the newest 20
  throughline sessions show --last           the last one of this directory, as text
  throughline sessions search "build fails"
  throughline sessions rename --last "fix the build"
  throughline sessions rm s_1m7g --yes`,
    );
  const done = (work: Promise<number | void>): Promise<void> => work.then((code) => finish(code ?? EXIT.ok));
  sessions
    .command("list", { isDefault: true })
    .description("the newest sessions")
    .option("-n, --number <n>", "how many", "20")
    .option("--here", "only those of this directory")
    .option("--server <url>", "those of a server: its URL, or the link it printed")
    .option("--json", "as JSON")
    .action((flags: ListFlags) => done(list(flags, terminal)));
  takesSession(sessions.command("show").description("a session as text"))
    .addOption(
      new Option("--reasoning <how>", "full, title or none")
        .choices(["full", "title", "none"])
        .default("title"),
    )
    .option("--json", "its blocks as JSON")
    .action((name: string | undefined, flags: ShowFlags) =>
      done(readSession(name, flags, (log) => show(log, flags, terminal))),
    );
  sessions
    .command("search")
    .description("sessions whose messages contain a text")
    .argument("<text>", "what to look for, in any case")
    .option("--json", "as JSON")
    .action((text: string, flags: { readonly json?: boolean }) => done(search(text, flags, terminal)));
  sessions
    .command("rename")
    .description("give a session another title")
    .usage("[options] <session> <title>")
    .argument("<session>", "its id, a unique beginning of it, or its title; not with --last")
    .argument("[title]", "the new title")
    .option("--last", "the last session of this directory")
    .action((name: string, title: string | undefined, flags: LastFlag) => done(rename(name, title, flags)));
  sessions
    .command("rm")
    .description("remove sessions with everything beside them")
    .argument("[session...]", "ids, unique beginnings of them, or titles")
    .option("--last", "the last session of this directory")
    .option("--yes", "do it; without it, it only says what would go")
    .action((names: readonly string[], flags: LastFlag & { readonly yes?: boolean }) =>
      done(remove(names, flags, terminal)),
    );
  takesSession(sessions.command("path").description("where a session's log is, or where all are")).action(
    (name: string | undefined, flags: LastFlag) => done(path(name, flags, terminal)),
  );
  sessions.addCommand(exportCommand(terminal, finish));
  sessions.addCommand(importCommand(terminal, finish));
  sessions.addCommand(eraseCommand(terminal, finish));
  return sessions;
}

interface ListFlags {
  readonly number: string;
  readonly here?: boolean;
  readonly server?: string;
  readonly json?: boolean;
}

/** Only summaries of what is shown are read: a folder of ten thousand sessions costs its listing and a screenful. */
async function list(flags: ListFlags, terminal: Terminal): Promise<void> {
  const most = wholeNumber("-n", flags.number, ABOVE_ZERO);
  const rows: SessionRow[] = [];
  const cwd = flags.here === true ? process.cwd() : undefined;
  const found =
    flags.server === undefined
      ? rowsOf(sessionStore(), cwd)
      : (await import("../remote-session.ts")).remoteRows(flags.server, cwd);
  for await (const row of found) {
    rows.push(row);
    if (rows.length >= most) break;
  }
  if (flags.json === true) return printJson(terminal.stdout, rows);
  if (rows.length === 0)
    terminal.stderr.write(
      flags.here === true
        ? "There are no sessions of this directory.\n"
        : "There are no sessions yet: throughline starts one.\n",
    );
  const longest = Math.max(0, ...rows.map(({ id }) => id.length));
  for (const row of rows) terminal.stdout.write(`${row.id.padEnd(longest)}  ${rowText(row)}\n`);
}

interface ShowFlags extends SessionTextOptions, LastFlag {
  readonly json?: boolean;
}

async function show(log: Log, flags: ShowFlags, terminal: Terminal): Promise<void> {
  const open = await openEndOf(log);
  const empty = log.events.length === 0 ? await crashLeft(log) : undefined;
  const blocks = blocksOf(open?.events ?? log.events, { writerAlive: open?.live === true });
  const head = `${factsOf(log.events).title ?? ""} · ${log.session}`;
  if (flags.json === true) return printJsonList(terminal.stdout, blocks);
  printLines(terminal.stdout, [inertLine(head, 100)]);
  printLines(terminal.stdout, empty === undefined ? sessionLines(blocks, flags) : [empty]);
  if (open !== undefined) printLines(terminal.stdout, [`─ ${open.text}`]);
}

interface Hit {
  readonly id: string;
  readonly seq: number;
  readonly type: string;
  readonly text: string;
}

async function search(text: string, flags: { readonly json?: boolean }, terminal: Terminal): Promise<number> {
  if (text.trim() === "") throw codedError("usage", "search for what? Give a word or a sentence");
  const store = sessionStore();
  const wanted = text.toLowerCase();
  let stopped = false;
  const end = stopOnSignals(() => {
    stopped = true;
  });
  const all: StoredSession[] = [];
  for await (const stored of store.list({ summaries: false })) all.push(stored);
  const hits: Hit[] = [];
  for (const [index, { id }] of all.entries()) {
    if (stopped) break;
    if (terminal.stderr.isTTY === true && index % 50 === 49)
      terminal.stderr.write(`searched ${index + 1} of ${all.length}\n`);
    const found = await hitsIn(store, id, wanted, terminal);
    hits.push(...found);
    if (flags.json === true) continue;
    for (const hit of found)
      terminal.stdout.write(`${hit.id}  [${hit.seq}] ${hit.type}: ${inertLine(hit.text, 120)}\n`);
  }
  if (flags.json === true) printJson(terminal.stdout, hits);
  return end() ?? EXIT.ok;
}

async function hitsIn(store: Store, id: string, wanted: string, terminal: Terminal): Promise<readonly Hit[]> {
  try {
    const events = await withLog(store.open(id, { mode: "read" }), (log) => log.events);
    return events.flatMap((event): readonly Hit[] => {
      const text =
        event.type === "user_message"
          ? event.content.map((part) => (part.type === "text" ? part.text : "")).join(" ")
          : event.type === "assistant_message"
            ? event.text
            : "";
      const at = text.toLowerCase().indexOf(wanted);
      return at === -1
        ? []
        : [{ id, seq: event.seq, type: event.type, text: excerptAt(text, at, wanted.length) }];
    });
  } catch (error) {
    terminal.stderr.write(`${id}: ${inertLine(messageOf(error), 200)}\n`);
    return [];
  }
}

async function rename(first: string, second: string | undefined, flags: LastFlag): Promise<void> {
  const [name, title] = flags.last === true ? [undefined, first] : [first, second];
  if (title === undefined || (flags.last === true && second !== undefined)) {
    throw codedError(
      "usage",
      "rename takes a session (or --last) and a title; a title of several words needs quotes",
    );
  }
  const clean = inertLine(title, 200);
  if (clean === "") throw codedError("title_empty", "the title is empty");
  const id = await sessionNamed(name, flags);
  await withLog(sessionStore().open(id, { mode: "write" }), async (log) => {
    await log.append([{ type: "title", title: clean }], { durable: true });
  });
}

async function remove(
  names: readonly string[],
  flags: LastFlag & { readonly yes?: boolean },
  terminal: Terminal,
): Promise<number> {
  // All are found before any is removed: a typing error in the last name removes nothing.
  const ids: string[] = [];
  for (const name of flags.last === true && names.length === 0 ? [undefined] : names) {
    ids.push(await sessionNamed(name, flags));
  }
  if (ids.length === 0) throw codedError("usage", "which session? Give its id, or --last");
  if (flags.yes !== true) {
    terminal.stderr.write(`would remove ${ids.join(", ")}; add --yes to do it\n`);
    return EXIT.usage;
  }
  for (const id of ids) {
    await sessionStore().remove(id);
    terminal.stderr.write(`removed ${id}\n`);
  }
  return EXIT.ok;
}

async function path(name: string | undefined, flags: LastFlag, terminal: Terminal): Promise<void> {
  const all = name === undefined && flags.last !== true;
  // Not opened: whoever asks may want to look at a log that cannot be read.
  const where = all ? [] : [`${await sessionNamed(name, flags)}.jsonl`];
  terminal.stdout.write(`${join(sessionsFolder(), ...where)}\n`);
}
