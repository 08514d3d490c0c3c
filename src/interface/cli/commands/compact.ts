/** `throughline compact`: replaces the older turns of a session with a summary; its log keeps them. */

import { Command } from "commander";

import type { Compaction } from "../../../base/events/index.ts";
import type { Session } from "../../../runtime/session/index.ts";
import type { Finish } from "../command-table.ts";
import { EXIT } from "../exit-codes.ts";
import { wholeNumber } from "../flag-numbers.ts";
import { inert } from "../inert-text.ts";
import { openSession, type RunFlags } from "../open-session.ts";
import { EFFORT_WORDS } from "../run-options.ts";
import { type LastFlag, sessionNamed, takesSession } from "../session-argument.ts";
import { stopOnSignals } from "../signals.ts";
import { takesStore } from "../store-flag.ts";
import type { Terminal } from "../terminal.ts";

interface CompactFlags extends LastFlag, Pick<RunFlags, "model" | "effort"> {
  readonly keepTurns?: string;
  readonly instructions?: string;
  readonly json?: boolean;
}

export function compactCommand(terminal: Terminal, finish: Finish): Command {
  return takesStore(
    takesSession(
      new Command("compact").description(
        "Summarise the older turns of a session so that it fits the model again",
      ),
    ),
  )
    .option("--keep-turns <n>", "keep the last n turns word for word (default: 1)")
    .option("--instructions <text>", "tell the model what the summary should focus on")
    .option(
      "-m, --model <provider/model[:effort]>",
      "the model that writes it (default: the session's model)",
    )
    .option("--effort <level>", `reasoning effort: ${EFFORT_WORDS}`)
    .option("--json", "print the compaction event as one JSON object")
    .addHelpText(
      "after",
      `
Examples:
  throughline compact --last
  throughline compact s_1m7g --keep-turns 3 --instructions "keep every file name"`,
    )
    .action(async (name: string | undefined, flags: CompactFlags) => {
      finish(await compact(name, flags, terminal));
    });
}

const TURNS = { least: 0, use: "a whole number, 0 or more" };

async function compact(name: string | undefined, flags: CompactFlags, terminal: Terminal): Promise<number> {
  const { model, effort, instructions, store } = flags;
  const keepTurns =
    flags.keepTurns === undefined ? undefined : wholeNumber("--keep-turns", flags.keepTurns, TURNS);
  const resume = await sessionNamed(name, flags);
  const { session } = await openSession({ resume, model, effort, store }, { interactive: false, terminal });
  const stop = new AbortController();
  const end = stopOnSignals(() => stop.abort());
  try {
    if (terminal.stderr.isTTY === true) terminal.stderr.write("summarising …\n");
    await session.compact({ signal: stop.signal, keepTurns, instructions });
    const made = await lastCompaction(session);
    terminal.stdout.write(
      flags.json === true ? `${JSON.stringify(made)}\n` : `${inert(made?.summary ?? "")}\n`,
    );
    return end() ?? EXIT.ok;
  } catch (error) {
    const code = end();
    if (code !== undefined) return code;
    throw error;
  } finally {
    await session.close();
  }
}

async function lastCompaction(session: Session): Promise<Compaction | undefined> {
  let last: Compaction | undefined;
  for await (const event of session.events({ path: "active" })) if (event.type === "compaction") last = event;
  return last;
}
