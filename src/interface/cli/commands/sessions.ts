/** `throughline sessions`: lists, shows, searches, renames and removes stored sessions. */

import { join } from "node:path";

import { Command, Option } from "commander";

import { codedError, messageOf } from "../../../base/support/index.ts";
import { factsOf } from "../../../runtime/facts/index.ts";
import type { Log, Store, StoredSession } from "../../../runtime/log/index.ts";
import { previewFromLog } from "../../../runtime/session/index.ts";
import { sessionsFolder } from "../../config/index.ts";
import { blocksOf, ThoughtMarks } from "../../fragments/index.ts";
import { crashLeft } from "../crash-left.ts";
import { excerptAt } from "../excerpt.ts";
import { EXIT } from "../exit-codes.ts";
import { ABOVE_ZERO, wholeNumber } from "../flag-numbers.ts";
import { inertLine } from "../inert-text.ts";
import { openEndOf } from "../open-end.ts";
import { chosenDatabase, openStore, type StoreFlags } from "../open-store.ts";
import { type LastFlag, readSession, sessionNamed, takesSession, withLog } from "../session-argument.ts";
import { rowsOf, rowText, type SessionRow } from "../session-rows.ts";
import { sessionLines, type SessionTextOptions } from "../session-text.ts";
import { stopOnSignals } from "../signals.ts";
import { STORE_FLAG, takesStore } from "../store-flag.ts";
import { printJson, printJsonList, printLines, type Terminal } from "../terminal.ts";
import { copyCommand } from "./copy.ts";
import { eraseCommand } from "./erase.ts";
import { exportCommand } from "./export.ts";
import { importCommand } from "./import.ts";

export function sessionsCommand(terminal: Terminal, finish: (code: number) => void): Command {
  const sessions = new Command("sessions")
    .description("List, show, search, rename, remove, export, import, erase and copy sessions")
    .helpCommand("help [command]", "Show the help of a command")
    .configureHelp({ subcommandTerm: (command) => `${command.name()} ${command.usage()}` })
    .addHelpText(
      "after",
      `
Examples:
  throughline sessions                       list the 20 most recent sessions
  throughline sessions show --last           print the last session of this directory
  throughline sessions search "build fails"
  throughline sessions rename --last "fix the build"
  throughline sessions rm s_1m7g --yes`,
    );
  const done = (work: Promise<number | void>): Promise<void> => work.then((code) => finish(code ?? EXIT.ok));
  sessions
    .command("list", { isDefault: true })
    .description("List the most recent sessions")
    .option("-n, --number <n>", "list at most n sessions", "20")
    .option("--here", "list only the sessions of this directory")
    .addOption(
      new Option(
        "--server <url>",
        "list the sessions of a server, given by its URL or the link it printed",
      ).conflicts("store"),
    )
    .option(...STORE_FLAG)
    .option("--json", "print one JSON array")
    .action((flags: ListFlags) => done(list(flags, terminal)));
  takesStore(takesSession(sessions.command("show").description("Print a session as text")))
    .addOption(
      new Option("--reasoning <how>", "how much reasoning to print")
        .choices(["full", "title", "none"])
        .default("title"),
    )
    .option("--json", "print the session's blocks as one JSON array")
    .action((name: string | undefined, flags: ShowFlags) =>
      done(readSession(name, flags, (log) => show(log, flags, terminal))),
    );
  sessions
    .command("search")
    .description("Find sessions whose messages contain a text")
    .argument("<text>", "the text to find, ignoring case")
    .option(...STORE_FLAG)
    .option("--json", "print one JSON array")
    .action((text: string, flags: SearchFlags) => done(search(text, flags, terminal)));
  sessions
    .command("rename")
    .description("Change a session's title")
    .usage("[options] <session> <title>")
    .argument("<session>", "the session's id, a unique prefix of it, or its title; omit it with --last")
    .argument("[title]", "the new title")
    .option("--last", "use the last session of this directory")
    .option(...STORE_FLAG)
    .action((name: string, title: string | undefined, flags: LastFlag) => done(rename(name, title, flags)));
  sessions
    .command("rm")
    .description("Remove sessions and all their files")
    .argument("[session...]", "ids, unique prefixes of ids, or titles")
    .option("--last", "use the last session of this directory")
    .option(...STORE_FLAG)
    .option("--yes", "remove them; without this flag, only show what would be removed")
    .action((names: readonly string[], flags: LastFlag & { readonly yes?: boolean }) =>
      done(remove(names, flags, terminal)),
    );
  takesStore(
    takesSession(
      sessions.command("path").description("Print the path of a session's log, or of the folder of all logs"),
    ),
  ).action((name: string | undefined, flags: LastFlag) => done(path(name, flags, terminal)));
  sessions.addCommand(exportCommand(terminal, finish));
  sessions.addCommand(importCommand(terminal, finish));
  sessions.addCommand(eraseCommand(terminal, finish));
  sessions.addCommand(copyCommand(terminal, finish));
  return sessions;
}

interface ListFlags extends StoreFlags {
  readonly number: string;
  readonly here?: boolean;
  readonly server?: string;
  readonly json?: boolean;
}

/** Reads summaries only of the sessions it shows, so that listing a folder of ten thousand sessions stays cheap. */
async function list(flags: ListFlags, terminal: Terminal): Promise<void> {
  const most = wholeNumber("-n", flags.number, ABOVE_ZERO);
  const rows: SessionRow[] = [];
  const cwd = flags.here === true ? process.cwd() : undefined;
  const found =
    flags.server === undefined
      ? rowsOf(await openStore(flags), cwd)
      : (await import("../remote-session.ts")).remoteRows(flags.server, cwd);
  for await (const row of found) {
    rows.push(row);
    if (rows.length >= most) break;
  }
  if (flags.json === true) return printJson(terminal.stdout, rows);
  if (rows.length === 0)
    terminal.stderr.write(
      flags.here === true
        ? "No sessions in this directory.\n"
        : "No sessions yet. Run throughline to start one.\n",
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
  const marks = blocks.some(({ kind }) => kind === "reasoning") ? await marksOf(log) : undefined;
  printLines(terminal.stdout, empty === undefined ? sessionLines(blocks, { ...flags, marks }) : [empty]);
  if (open !== undefined) printLines(terminal.stdout, [`─ ${open.text}`]);
}

/** The marks for a next request with the last settings. Undefined if there is no such request. */
async function marksOf(log: Log): Promise<ThoughtMarks | undefined> {
  const target = factsOf(log.events).settings?.target;
  const preview = await previewFromLog(log).catch(() => undefined);
  return target === undefined || preview === undefined
    ? undefined
    : new ThoughtMarks(preview.decisions, target);
}

interface Hit {
  readonly id: string;
  readonly seq: number;
  readonly type: string;
  readonly text: string;
}

interface SearchFlags extends StoreFlags {
  readonly json?: boolean;
}

async function search(text: string, flags: SearchFlags, terminal: Terminal): Promise<number> {
  if (text.trim() === "") throw codedError("usage", "the search text is empty: give a word or a sentence");
  const store = await openStore(flags);
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
      "rename takes a session (or --last) and a title; put a title of several words in quotes",
    );
  }
  const clean = inertLine(title, 200);
  if (clean === "") throw codedError("title_empty", "the title is empty");
  const id = await sessionNamed(name, flags);
  await withLog((await openStore(flags)).open(id, { mode: "write" }), async (log) => {
    await log.append([{ type: "title", title: clean }], { durable: true });
  });
}

async function remove(
  names: readonly string[],
  flags: LastFlag & { readonly yes?: boolean },
  terminal: Terminal,
): Promise<number> {
  // Find all sessions before removing any, so that a typing error in the last name removes nothing.
  const ids: string[] = [];
  for (const name of flags.last === true && names.length === 0 ? [undefined] : names) {
    ids.push(await sessionNamed(name, flags));
  }
  if (ids.length === 0) throw codedError("usage", "give one or more sessions, or use --last");
  if (flags.yes !== true) {
    terminal.stderr.write(`would remove ${ids.join(", ")}; add --yes to do it\n`);
    return EXIT.usage;
  }
  const store = await openStore(flags);
  for (const id of ids) {
    await store.remove(id);
    terminal.stderr.write(`removed ${id}\n`);
  }
  return EXIT.ok;
}

async function path(name: string | undefined, flags: LastFlag, terminal: Terminal): Promise<void> {
  const all = name === undefined && flags.last !== true;
  // Do not open the log: the user may want the path of a log that cannot be read.
  const id = all ? undefined : await sessionNamed(name, flags);
  if (chosenDatabase(flags) !== undefined) {
    const what = id === undefined ? "the sessions are" : `session ${id} is`;
    const next = `throughline sessions export ${id ?? "ID"} -o FILE writes ${id === undefined ? "one" : "it"} to a file`;
    terminal.stdout.write(`${what} in the PostgreSQL store; ${next}\n`);
    return;
  }
  terminal.stdout.write(`${join(sessionsFolder(), ...(id === undefined ? [] : [`${id}.jsonl`]))}\n`);
}
