/** `throughline store`: looks after a PostgreSQL store: its state, its soundness, old sessions, a restored database. */

import { Command } from "commander";

import type { Engine, Restored } from "../../../runtime/postgres/index.ts";
import { amount } from "../amount.ts";
import { asks } from "../ask.ts";
import type { Finish } from "../command-table.ts";
import { EXIT } from "../exit-codes.ts";
import { ABOVE_ZERO, age, wholeNumber } from "../flag-numbers.ts";
import { inertLine } from "../inert-text.ts";
import { openDatabase, requiredDatabase, type StoreFlags } from "../open-store.ts";
import { ProgressLine } from "../progress-line.ts";
import { stopOnSignals } from "../signals.ts";
import { STORE_FLAG } from "../store-flag.ts";
import { sizeOf, statusLines } from "../store-words.ts";
import { printJson, printLines, type Terminal } from "../terminal.ts";

interface VerifyFlags extends StoreFlags {
  readonly sample?: string;
  readonly tenant?: string;
}

interface PruneFlags extends StoreFlags {
  readonly olderThan: string;
  readonly tenant?: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

export function storeCommand(terminal: Terminal, finish: Finish): Command {
  const store = new Command("store")
    .description("Look after a PostgreSQL store: its state, damage, old sessions, a restored database")
    .helpCommand("help [command]", "Show the help of a command")
    .addHelpText(
      "after",
      `
Examples:
  throughline store status
  throughline store verify --sample 1000
  throughline store prune --older-than 90d --dry-run`,
    );
  store
    .command("status")
    .description("Show versions, nodes, sessions, what waits, and sizes")
    .option(...STORE_FLAG)
    .option("--json", "print one JSON object")
    .action(async (flags: StoreFlags & { readonly json?: boolean }) => {
      await status(flags, terminal);
      finish(EXIT.ok);
    });
  store
    .command("verify")
    .description("Read every session and report what is damaged; exit with code 1 if something is")
    .option(...STORE_FLAG)
    .option("--sample <n>", "check only n sessions, picked at random")
    .option("--tenant <name>", "check only the sessions of this tenant")
    .action(async (flags: VerifyFlags) => finish(await verify(flags, terminal)));
  store
    .command("prune")
    .description("Remove sessions that nobody has changed for a long time")
    .requiredOption("--older-than <age>", "remove sessions not changed for this long, such as 90d or 12h")
    .option(...STORE_FLAG)
    .option("--tenant <name>", "remove only sessions of this tenant")
    .option("--dry-run", "count them without removing any")
    .option("--yes", "remove them without asking")
    .action(async (flags: PruneFlags) => finish(await prune(flags, terminal)));
  store
    .command("restored")
    .description("Say that the database was restored from a backup, so that no node goes on as before")
    .option(...STORE_FLAG)
    .action(async (flags: StoreFlags) => {
      await restored(flags, terminal);
      finish(EXIT.ok);
    });
  return store;
}

/** The parts of a store that a command for its operator uses. Loaded only now. */
async function adminOf(flags: StoreFlags) {
  const admin = await import("../../../runtime/postgres/index.ts");
  const engine: Engine | undefined = admin.engineOf(await openDatabase(requiredDatabase(flags)));
  if (engine === undefined) throw new Error("the store has no engine");
  return { admin, engine };
}

async function status(flags: StoreFlags & { readonly json?: boolean }, terminal: Terminal): Promise<void> {
  const { admin, engine } = await adminOf(flags);
  const found = await admin.storeStatus(engine);
  if (flags.json === true) printJson(terminal.stdout, found);
  else printLines(terminal.stdout, statusLines(found));
}

async function verify(flags: VerifyFlags, terminal: Terminal): Promise<number> {
  const sample = flags.sample === undefined ? undefined : wholeNumber("--sample", flags.sample, ABOVE_ZERO);
  const { admin, engine } = await adminOf(flags);
  const stop = new AbortController();
  const end = stopOnSignals(() => stop.abort());
  const progress = new ProgressLine(terminal);
  const damages = admin.verifyStore(engine, {
    sample,
    tenant: flags.tenant,
    signal: stop.signal,
    onProgress: (done, all) => progress.tell(done, all, "sessions checked"),
  });
  let repairable = false;
  for (;;) {
    const next = await damages.next();
    progress.clear();
    if (next.done === true) {
      const { sessions, events, bytes, damaged } = next.value;
      const what = `${amount(sessions, "session")}, ${amount(events, "event")}, ${sizeOf(bytes)}`;
      const outcome = damaged === 0 ? "nothing is damaged" : amount(damaged, "damaged session");
      const stopped = stop.signal.aborted ? "stopped early: " : "";
      terminal.stdout.write(`${stopped}checked ${what}: ${outcome}\n`);
      if (repairable)
        terminal.stderr.write(
          "throughline repair SESSION saves the undamaged part of a session to a new one\n",
        );
      return end() ?? (damaged === 0 ? EXIT.ok : EXIT.turnFailed);
    }
    const { tenant, session, seq, problem } = next.value;
    repairable ||= tenant === ""; // repair works on the sessions of no other tenant
    const whose = tenant === "" ? "" : ` of tenant ${inertLine(tenant, 100)}`;
    const where = seq === undefined ? "" : ` at event ${seq}`;
    terminal.stdout.write(`${inertLine(session, 64)}${whose}${where}: ${inertLine(problem, 300)}\n`);
  }
}

async function prune(flags: PruneFlags, terminal: Terminal): Promise<number> {
  const olderThanMs = age("--older-than", flags.olderThan);
  const { admin, engine } = await adminOf(flags);
  const stop = new AbortController();
  const end = stopOnSignals(() => stop.abort());
  const choice = { olderThanMs, tenant: flags.tenant, signal: stop.signal };
  const old = await admin.pruneStore(engine, { ...choice, dryRun: true });
  const told = `${amount(old.sessions, "session")} (${sizeOf(old.bytes)}) not changed for ${flags.olderThan}`;
  if (old.sessions === 0 || flags.dryRun === true || stop.signal.aborted) {
    terminal.stdout.write(old.sessions === 0 ? "no sessions to remove\n" : `would remove ${told}\n`);
    return end() ?? EXIT.ok;
  }
  if (flags.yes !== true && !(await confirmed(told, terminal))) {
    terminal.stderr.write(`would remove ${told}; add --yes to do it\n`);
    return end() ?? EXIT.usage;
  }
  const progress = new ProgressLine(terminal);
  const gone = await admin.pruneStore(engine, {
    ...choice,
    onProgress: ({ sessions }) => progress.tell(sessions, old.sessions, "sessions removed"),
  });
  progress.clear();
  const rest = stop.signal.aborted ? "; stopped: run it again for the rest" : "";
  terminal.stdout.write(`removed ${amount(gone.sessions, "session")} (${sizeOf(gone.bytes)})${rest}\n`);
  return end() ?? EXIT.ok;
}

async function confirmed(told: string, terminal: Terminal): Promise<boolean> {
  return terminal.interactive && (await asks(`Remove ${told} for good? [y/N] `, terminal));
}

async function restored(flags: StoreFlags, terminal: Terminal): Promise<void> {
  const { admin, engine } = await adminOf(flags);
  printLines(terminal.stdout, restoredLines(await admin.markRestored(engine)));
}

function restoredLines({ noticed, nodes, openTurns }: Restored): readonly string[] {
  return [
    noticed
      ? "the store noticed by itself that its database was restored or replaced"
      : "the store is marked as restored",
    `${amount(nodes, "running node")} ${nodes === 1 ? "loses its" : "lose their"} sessions within ${nodes === 1 ? "its" : "their"} lease and ${nodes === 1 ? "begins" : "begin"} anew; no node goes on with what it held before`,
    `${amount(openTurns, "open turn")}: no call of ${openTurns === 1 ? "it" : "them"} runs again, because its result may be among what was lost; the next message or resume continues`,
  ];
}
