/**
 * Going back without rewriting: `fork`, `retry`, `edit`, `undo`. Each is an event; what was left stays in the log.
 *
 * @module
 */

import { Command } from "commander";

import type { UserMessage } from "../../../base/events/index.ts";
import { codedError } from "../../../base/support/index.ts";
import { fileStore } from "../../../runtime/log/index.ts";
import type { Session } from "../../../runtime/session/index.ts";
import { sessionsFolder } from "../../config/index.ts";
import { resolveSession } from "../choose-session.ts";
import type { Finish } from "../command-table.ts";
import { EXIT } from "../exit-codes.ts";
import { inertLine } from "../inert-text.ts";
import { enterDirectory, type Opened, openSession } from "../open-session.ts";
import { type TellOptions, tellTurn } from "../run-once.ts";
import { type RunFlags, runOptions } from "../run-options.ts";
import type { Terminal } from "../terminal.ts";

export function forkCommand(terminal: Terminal, finish: Finish): Command {
  return which(new Command("fork").description("a new session from a point of another; the original stays"))
    .option("--at <seq>", "the last event to take along (default: all of it)")
    .option("--id <id>", "the new session's id")
    .addHelpText(
      "after",
      `
Examples:
  throughline fork --last                  all of it, under a new id
  throughline fork s_1m7g --at 41          up to event 41`,
    )
    .action(
      async (name: string | undefined, flags: Which & { readonly at?: string; readonly id?: string }) => {
        const at = flags.at === undefined ? undefined : seqFrom("--at", flags.at);
        await withSession(name, flags, { terminal, offline: true }, async ({ session }) => {
          const child = await session.fork({
            at,
            id: flags.id,
          });
          terminal.stdout.write(`${child.id}\n`);
          await child.close();
        });
        finish(EXIT.ok);
      },
    );
}

export function undoCommand(terminal: Terminal, finish: Finish): Command {
  return which(new Command("undo").description("take back the last message and what came of it"))
    .addHelpText(
      "after",
      `
Examples:
  throughline undo --last
  throughline undo "fix the build"         a session by its title`,
    )
    .action(async (name: string | undefined, flags: Which) => {
      await withSession(name, flags, { terminal, offline: true }, async ({ session }) => {
        const last = await lastMessage(session);
        await session.undo();
        terminal.stderr.write(`took back: ${inertLine(textOf(last), 80)}\n`);
      });
      finish(EXIT.ok);
    });
}

export function retryCommand(terminal: Terminal, finish: Finish): Command {
  const command = which(
    new Command("retry").description("answer the last message again, on a new branch"),
  ).addHelpText(
    "after",
    `
Examples:
  throughline retry --last
  throughline retry --last -m openai/gpt-5.6:high`,
  );
  return runOptions(command, { choosesSession: false }).action(
    async (name: string | undefined, flags: Which & RunFlags) => {
      finish(
        await withSession(name, flags, { terminal, offline: false }, (opened) =>
          tellTurn(opened.session, opened.session.retry(), tellOptions(flags, opened), terminal),
        ),
      );
    },
  );
}

export function editCommand(terminal: Terminal, finish: Finish): Command {
  const command = new Command("edit")
    .description("say an earlier message differently, on a new branch")
    .usage("[options] <session> <seq> <text...>")
    .argument("<words...>", "the session (not with --last), the number of the message, what to say instead")
    .option("--last", "the last session of this directory")
    .addHelpText(
      "after",
      `
The number is the one that sessions show prints behind a message.

Examples:
  throughline edit s_1m7g 12 "and in Rome?"
  throughline edit --last 12 "and in Rome?"`,
    );
  return runOptions(command, { choosesSession: false }).action(
    async (words: readonly string[], flags: Which & RunFlags) => {
      const [name, seq, ...text] = flags.last === true ? [undefined, ...words] : words;
      if (seq === undefined || text.length === 0) {
        throw codedError(
          "usage",
          "edit takes a session (or --last), the number of a message, and what to say instead",
        );
      }
      const at = seqFrom("<seq>", seq);
      finish(
        await withSession(name, flags, { terminal, offline: false }, (opened) =>
          tellTurn(
            opened.session,
            opened.session.edit(at, text.join(" ")),
            tellOptions(flags, opened),
            terminal,
          ),
        ),
      );
    },
  );
}

function tellOptions(flags: RunFlags, { settings, instructions }: Opened): TellOptions {
  return {
    json: flags.json === true,
    permissions: settings.permissions,
    showReasoning: settings.showReasoning,
    output: flags.output,
    instructions,
  };
}

interface Which {
  readonly last?: boolean;
}

function which(command: Command): Command {
  return command
    .argument("[session]", "its id, a unique beginning of it, or its title")
    .option("--last", "the last session of this directory");
}

async function withSession<T>(
  name: string | undefined,
  flags: Which & RunFlags,
  how: { readonly terminal: Terminal; readonly offline: boolean },
  work: (opened: Opened) => Promise<T>,
): Promise<T> {
  enterDirectory(flags.directory);
  const store = fileStore(sessionsFolder());
  const id = await resolveSession(store, { name, last: flags.last === true }, process.cwd());
  const { directory: _entered, ...rest } = flags;
  const opened = await openSession({ ...rest, resume: id }, { canAsk: false, ...how });
  try {
    return await work(opened);
  } finally {
    await opened.session.close();
  }
}

async function lastMessage(session: Session): Promise<UserMessage> {
  let last: UserMessage | undefined;
  for await (const event of session.events({ path: "active" })) {
    if (event.type === "user_message" && event.by === "person") last = event;
  }
  if (last === undefined) throw codedError("nothing_to_undo", "there is no message to take back");
  return last;
}

function textOf(message: UserMessage): string {
  return message.content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join(" ");
}

function seqFrom(flag: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw codedError("number_invalid", `${flag} ${text}: use the number of an event`);
}
