/**
 * `throughline sessions`: find, read, rename and remove what was kept.
 *
 * @module
 */

import { Command, Option } from "commander";

import { sessionsFolder } from "../../config/index.ts";
import { blocksOf } from "../../fragments/index.ts";
import { fileStore, type Log, type Store, type StoredSession } from "../../log/index.ts";
import { messageOf, ThroughlineError } from "../../support/index.ts";
import { resolveSession } from "../choose-session.ts";
import { EXIT } from "../exit-codes.ts";
import { inertLine } from "../inert-text.ts";
import { stopOnSignals } from "../signals.ts";
import type { Terminal } from "../terminal.ts";
import { timelineOf } from "../timeline.ts";
import { transcript, type TranscriptOptions } from "../transcript.ts";

export function sessionsCommand(terminal: Terminal, finish: (code: number) => void): Command {
  const sessions = new Command("sessions").description("list, read, search, rename and remove sessions");
  const done = (work: Promise<number | void>): Promise<void> => work.then((code) => finish(code ?? EXIT.ok));
  sessions
    .command("list", { isDefault: true })
    .description("the newest sessions")
    .option("-n, --number <n>", "how many", "20")
    .option("--here", "only those of this directory")
    .option("--json", "as JSON")
    .action((flags: ListFlags) => done(list(flags, terminal)));
  sessions
    .command("show")
    .description("a session as text")
    .argument("[session]", "its id, a unique beginning of it, or its title")
    .option("--last", "the last session of this directory")
    .addOption(
      new Option("--reasoning <how>", "full, title or none")
        .choices(["full", "title", "none"])
        .default("title"),
    )
    .option("--json", "its blocks as JSON")
    .action((name: string | undefined, flags: ShowFlags) => done(show(name, flags, terminal)));
  sessions
    .command("search")
    .description("sessions whose messages contain a text")
    .argument("<text>", "what to look for, in any case")
    .option("--json", "as JSON")
    .action((text: string, flags: { readonly json?: boolean }) => done(search(text, flags, terminal)));
  sessions
    .command("rename")
    .description("give a session another title")
    .argument("<session>", "its id, a unique beginning of it, or its title")
    .argument("<title>", "the new title")
    .action((name: string, title: string) => done(rename(name, title)));
  sessions
    .command("rm")
    .description("remove sessions with everything beside them")
    .argument("<session...>", "ids")
    .option("--yes", "do it; without it, it only says what would go")
    .action((names: readonly string[], flags: { readonly yes?: boolean }) =>
      done(remove(names, flags, terminal)),
    );
  sessions
    .command("path")
    .description("where a session's log is, or where all are")
    .argument("[session]", "its id, a unique beginning of it, or its title")
    .action((name: string | undefined) => done(path(name, terminal)));
  return sessions;
}

interface ListFlags {
  readonly number: string;
  readonly here?: boolean;
  readonly json?: boolean;
}

interface Row {
  readonly id: string;
  readonly modifiedAt: string;
  readonly bytes: number;
  readonly title: string | undefined;
  readonly cwd: string | undefined;
  readonly turns: number;
  readonly problem: string | undefined;
}

const openStore = (): Store => fileStore(sessionsFolder());

/** Only what is shown is opened: a folder of ten thousand sessions costs its listing and a screenful. */
async function list(flags: ListFlags, terminal: Terminal): Promise<void> {
  const most = Number(flags.number);
  if (!Number.isSafeInteger(most) || most < 1) {
    throw new ThroughlineError({
      code: "number_invalid",
      message: `-n ${flags.number}: use a whole number above 0`,
    });
  }
  const store = openStore();
  const rows: Row[] = [];
  for (const stored of await newestFirst(store)) {
    if (rows.length >= most) break;
    const row = await describe(store, stored);
    if (flags.here !== true || row.cwd === process.cwd()) rows.push(row);
  }
  if (flags.json === true) {
    terminal.stdout.write(`${JSON.stringify(rows, undefined, 2)}\n`);
    return;
  }
  if (rows.length === 0)
    terminal.stderr.write(
      flags.here === true
        ? "There are no sessions of this directory.\n"
        : "There are no sessions yet: throughline starts one.\n",
    );
  for (const { id, modifiedAt, title, turns, problem } of rows) {
    const what =
      problem === undefined
        ? `${String(turns).padStart(3)} ${turns === 1 ? "turn " : "turns"}  ${inertLine(title ?? "", 60)}`
        : `! ${inertLine(problem, 60)}`;
    terminal.stdout.write(`${id}  ${modifiedAt.slice(0, 16).replace("T", " ")}  ${what}\n`);
  }
}

async function newestFirst(store: Store): Promise<readonly StoredSession[]> {
  const all: StoredSession[] = [];
  for await (const stored of store.list()) all.push(stored);
  return all.toSorted((a, b) => b.modifiedAt - a.modifiedAt);
}

async function describe(store: Store, { id, modifiedAt, bytes }: StoredSession): Promise<Row> {
  const base = { id, modifiedAt: new Date(modifiedAt).toISOString(), bytes };
  try {
    const log = await store.open(id, { mode: "read" });
    const [first] = log.events;
    await log.close();
    return {
      ...base,
      title: titleOf(log),
      cwd: first?.type === "session_start" ? first.cwd : undefined,
      turns: timelineOf(log.events).length,
      problem: undefined,
    };
  } catch (error) {
    return { ...base, title: undefined, cwd: undefined, turns: 0, problem: messageOf(error) };
  }
}

function titleOf(log: Log): string | undefined {
  return log.events.findLast((event) => event.type === "title")?.title;
}

interface ShowFlags extends TranscriptOptions {
  readonly last?: boolean;
  readonly json?: boolean;
}

async function show(name: string | undefined, flags: ShowFlags, terminal: Terminal): Promise<void> {
  const store = openStore();
  const id = await resolveSession(store, { name, last: flags.last === true }, process.cwd());
  const log = await store.open(id, { mode: "read" });
  await log.close();
  // A reader cannot know that the writer lives; a session under way shows what is written so far.
  const blocks = blocksOf(log.events, { writerAlive: false });
  const head = `${titleOf(log) ?? ""} · ${id}`;
  const text =
    flags.json === true
      ? JSON.stringify(blocks, undefined, 2)
      : `${inertLine(head, 100)}\n${transcript(blocks, flags)}`;
  terminal.stdout.write(`${text}\n`);
}

interface Hit {
  readonly id: string;
  readonly seq: number;
  readonly type: string;
  readonly text: string;
}

async function search(text: string, flags: { readonly json?: boolean }, terminal: Terminal): Promise<number> {
  const store = openStore();
  const wanted = text.toLowerCase();
  let stopped = false;
  const end = stopOnSignals(() => {
    stopped = true;
  });
  const all = await newestFirst(store);
  const hits: Hit[] = [];
  for (const [index, { id }] of all.entries()) {
    if (stopped) break;
    if (terminal.stderr.isTTY === true && index % 50 === 49)
      terminal.stderr.write(`searched ${index + 1} of ${all.length}\n`);
    const found = await hitsIn(store, id, wanted, terminal);
    hits.push(...found);
    if (flags.json === true) continue;
    for (const hit of found)
      terminal.stdout.write(`${hit.id}  [${hit.seq}] ${hit.type}: ${inertLine(hit.text, 80)}\n`);
  }
  if (flags.json === true) terminal.stdout.write(`${JSON.stringify(hits, undefined, 2)}\n`);
  return end() ?? EXIT.ok;
}

async function hitsIn(store: Store, id: string, wanted: string, terminal: Terminal): Promise<readonly Hit[]> {
  try {
    const log = await store.open(id, { mode: "read" });
    await log.close();
    return log.events.flatMap((event): readonly Hit[] => {
      const text =
        event.type === "user_message"
          ? event.content.map((part) => (part.type === "text" ? part.text : "")).join(" ")
          : event.type === "assistant_message"
            ? event.text
            : "";
      const at = text.toLowerCase().indexOf(wanted);
      return at === -1
        ? []
        : [{ id, seq: event.seq, type: event.type, text: text.slice(Math.max(0, at - 20), at + 60) }];
    });
  } catch (error) {
    terminal.stderr.write(`${id}: ${inertLine(messageOf(error), 200)}\n`);
    return [];
  }
}

async function rename(name: string, title: string): Promise<void> {
  const clean = inertLine(title, 200);
  if (clean === "") throw new ThroughlineError({ code: "title_empty", message: "the title is empty" });
  const store = openStore();
  const log = await store.open(await resolveSession(store, { name, last: false }, process.cwd()), {
    mode: "write",
  });
  try {
    await log.append([{ type: "title", title: clean }]);
    await log.sync();
  } finally {
    await log.close();
  }
}

async function remove(
  names: readonly string[],
  flags: { readonly yes?: boolean },
  terminal: Terminal,
): Promise<number> {
  const store = openStore();
  // All are found before any is removed: a typing error in the last name removes nothing.
  const ids: string[] = [];
  for (const name of names) ids.push(await resolveSession(store, { name, last: false }, process.cwd()));
  if (flags.yes !== true) {
    terminal.stderr.write(`would remove ${ids.join(", ")}; add --yes to do it\n`);
    return EXIT.usage;
  }
  for (const id of ids) {
    await store.remove(id);
    terminal.stderr.write(`removed ${id}\n`);
  }
  return EXIT.ok;
}

async function path(name: string | undefined, terminal: Terminal): Promise<void> {
  if (name === undefined) {
    terminal.stdout.write(`${sessionsFolder()}\n`);
    return;
  }
  const store = openStore();
  const log = await store.open(await resolveSession(store, { name, last: false }, process.cwd()), {
    mode: "read",
  });
  await log.close();
  terminal.stdout.write(`${log.place}\n`);
}
