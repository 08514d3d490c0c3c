/**
 * `throughline sessions copy`: copies sessions between two stores, byte for byte, with their blobs. With `--move`, a
 * session leaves its store only after the other one was read back and compared.
 */

import { Command } from "commander";

import { codedError, codeOf, messageOf } from "../../../base/support/index.ts";
import { amount } from "../amount.ts";
import { resolveSession } from "../choose-session.ts";
import type { Finish } from "../command-table.ts";
import { copySession, type CopySide, filesSide, databaseSide } from "../copy-session.ts";
import { EXIT } from "../exit-codes.ts";
import { inertLine } from "../inert-text.ts";
import { chosenDatabase, otherDatabase } from "../open-store.ts";
import { ProgressLine } from "../progress-line.ts";
import { type LastFlag, takesSession } from "../session-argument.ts";
import { stopOnSignals } from "../signals.ts";
import { takesStore } from "../store-flag.ts";
import type { Terminal } from "../terminal.ts";

interface CopyFlags extends LastFlag {
  readonly to?: string;
  readonly from?: string;
  readonly all?: boolean;
  readonly move?: boolean;
}

export function copyCommand(terminal: Terminal, finish: Finish): Command {
  return takesStore(
    takesSession(
      new Command("copy").description("Copy sessions to or from another store, byte for byte, with blobs"),
    ),
  )
    .option("--to <place>", "copy to this PostgreSQL database, or to the files of this machine: files")
    .option("--from <place>", "copy from there instead")
    .option(
      "--all",
      "copy every session but those of tenants; those that cannot be copied are named at the end",
    )
    .option("--move", "remove each session where it was, after the copy was read back and compared")
    .addHelpText(
      "after",
      `
Examples:
  throughline sessions copy s_1m7g --to postgres://throughline@db/throughline
  throughline sessions copy --all --move --to postgres://throughline@db/throughline
  throughline sessions copy --last --from files        into the store that THROUGHLINE_STORE names`,
    )
    .action(async (name: string | undefined, flags: CopyFlags) => finish(await copy(name, flags, terminal)));
}

interface Sides {
  readonly source: CopySide;
  readonly target: CopySide;
}

async function copy(name: string | undefined, flags: CopyFlags, terminal: Terminal): Promise<number> {
  if (flags.all === true && (name !== undefined || flags.last === true))
    throw codedError("usage", "give a session or --all, not both");
  const { source, target } = await sidesOf(flags);
  const stop = new AbortController();
  const end = stopOnSignals(() => stop.abort());
  const move = flags.move === true;
  if (flags.all !== true) {
    const id = await resolveSession(source.store, { name, last: flags.last === true }, process.cwd());
    const { events, blobs } = await copySession(source, target, id, { move, again: move });
    terminal.stdout.write(
      `${move ? "moved" : "copied"} ${id}: ${amount(events, "event")}, ${amount(blobs, "blob")}\n`,
    );
    return end() ?? EXIT.ok;
  }
  return copyAll({ source, target }, { move, signal: stop.signal }, end, terminal);
}

async function copyAll(
  { source, target }: Sides,
  { move, signal }: { readonly move: boolean; readonly signal: AbortSignal },
  end: () => number | undefined,
  terminal: Terminal,
): Promise<number> {
  const ids: string[] = [];
  for await (const { id } of source.store.list({ summaries: false })) ids.push(id);
  const progress = new ProgressLine(terminal);
  const failed: { readonly id: string; readonly why: string }[] = [];
  let [done, there, events] = [0, 0, 0];
  for (const [index, id] of ids.entries()) {
    if (signal.aborted) break;
    try {
      const copied = await copySession(source, target, id, { move, again: true });
      if (copied.wasThere) there += 1;
      else {
        done += 1;
        events += copied.events;
      }
    } catch (error) {
      if (endsAll(error)) throw error;
      failed.push({ id, why: `${inertLine(messageOf(error), 300)} [${codeOf(error) ?? "internal"}]` });
    }
    progress.tell(index + 1, ids.length, `sessions ${move ? "moved" : "copied"}`);
  }
  progress.clear();
  for (const { id, why } of failed) terminal.stderr.write(`${id}: ${why}\n`);
  const already = there === 0 ? "" : `; ${there} ${there === 1 ? "was" : "were"} there already`;
  const not = failed.length === 0 ? "" : `; ${failed.length} could not be ${move ? "moved" : "copied"}`;
  const left = ids.length - done - there - failed.length;
  const rest = left === 0 ? "" : `; stopped with ${left} left: run it again to continue`;
  terminal.stdout.write(
    `${move ? "moved" : "copied"} ${amount(done, "session")}, ${amount(events, "event")}${already}${not}${rest}\n`,
  );
  return end() ?? (failed.length === 0 ? EXIT.ok : EXIT.turnFailed);
}

/** A store that is away, full or without tables fails every session alike. */
function endsAll(error: unknown): boolean {
  const code = codeOf(error) ?? "";
  return code.startsWith("store_") || code === "disk_full";
}

async function sidesOf(flags: CopyFlags): Promise<Sides> {
  const { to, from } = flags;
  const named = to ?? from;
  if (named === undefined || (to !== undefined && from !== undefined))
    throw codedError(
      "usage",
      "say where to copy: either --to or --from, with the address of a PostgreSQL database or the word files",
    );
  const flag = to === undefined ? "--from" : "--to";
  const database = chosenDatabase(flags);
  const there =
    named === "files" ? filesSide(flag) : await databaseSide(otherDatabase(flag, named, database), flag);
  const here = database === undefined ? filesSide() : await databaseSide(database);
  if (here.place === there.place)
    throw codedError("usage", `${flag} names the store that is in use already: name another one`);
  return to === undefined ? { source: there, target: here } : { source: here, target: there };
}
