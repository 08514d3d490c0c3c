/** `retry`, `edit` and `undo` go back by appending an event; `fork` copies to a new session. No log loses anything. */

import { Command } from "commander";

import { shownParts, type UserMessage } from "../../../base/events/index.ts";
import { codedError, type JsonObject } from "../../../base/support/index.ts";
import type { Session, Turn } from "../../../runtime/session/index.ts";
import type { Finish } from "../command-table.ts";
import { EXIT } from "../exit-codes.ts";
import { EVENT_NUMBER, wholeNumber } from "../flag-numbers.ts";
import { inertLine } from "../inert-text.ts";
import { enterDirectory, type Opened, openSession } from "../open-session.ts";
import { readOutputSchema } from "../output-files.ts";
import { structuredIn, tellTurn } from "../run-once.ts";
import { type RunFlags, runOptions } from "../run-options.ts";
import { type LastFlag, sessionNamed, takesLast, takesSession } from "../session-argument.ts";
import { takesStore } from "../store-flag.ts";
import type { Terminal } from "../terminal.ts";

interface ForkFlags extends LastFlag {
  readonly at?: string;
  readonly id?: string;
  readonly compacted?: boolean;
}

export function forkCommand(terminal: Terminal, finish: Finish): Command {
  return takesStore(
    takesSession(new Command("fork").description("Copy a session, or a part of it, to a new session")),
  )
    .option("--at <seq>", "copy up to this event (default: the whole session)")
    .option("--compacted", "leave out what the last summary replaces: a smaller log, the same next request")
    .option("--id <id>", "give the new session this id")
    .addHelpText(
      "after",
      `
Examples:
  throughline fork --last                  copy the whole session
  throughline fork s_1m7g --at 41          copy up to event 41
  throughline fork s_1m7g --compacted      after throughline compact: copy the summary and what follows it`,
    )
    .action(async (name: string | undefined, flags: ForkFlags) => {
      const at = flags.at === undefined ? undefined : wholeNumber("--at", flags.at, EVENT_NUMBER);
      await withSession(name, flags, { terminal, offline: true }, async ({ session }) => {
        const child = await session.fork({ at, id: flags.id, compacted: flags.compacted });
        terminal.stdout.write(`${child.id}\n`);
        await child.close();
      });
      finish(EXIT.ok);
    });
}

export function undoCommand(terminal: Terminal, finish: Finish): Command {
  return takesStore(
    takesSession(new Command("undo").description("Undo the last message and everything after it")),
  )
    .addHelpText(
      "after",
      `
Examples:
  throughline undo --last
  throughline undo "fix the build"         in the session with this title`,
    )
    .action(async (name: string | undefined, flags: LastFlag) => {
      await withSession(name, flags, { terminal, offline: true }, async ({ session }) => {
        const last = await lastMessage(session);
        await session.undo();
        terminal.stderr.write(`undone: ${inertLine(textOf(last), 80)}\n`);
      });
      finish(EXIT.ok);
    });
}

export function retryCommand(terminal: Terminal, finish: Finish): Command {
  const command = takesSession(
    new Command("retry").description("Answer the last message again, on a new branch"),
  )
    .option("--from-message", "start again at the message, even if the turn has finished steps")
    .addHelpText(
      "after",
      `
A turn that failed or reached a limit continues after its last finished step, so no tool runs twice.

Examples:
  throughline retry --last
  throughline retry --last -m openai/gpt-5.6:high
  throughline retry --last --from-message`,
    );
  return runOptions(command, { choosesSession: false }).action(
    async (name: string | undefined, given: LastFlag & RunFlags & { readonly fromMessage?: boolean }) => {
      const { fromMessage, ...flags } = given;
      const from = fromMessage === true ? "message" : undefined;
      finish(await answerAgain(name, flags, terminal, (session, output) => session.retry({ from, output })));
    },
  );
}

export function editCommand(terminal: Terminal, finish: Finish): Command {
  const command = takesLast(
    new Command("edit")
      .description("Change an earlier message and answer it, on a new branch")
      .usage("[options] <session> <seq> <text...>")
      .argument("<session>", "the session's id, a unique prefix of it, or its title; omit it with --last")
      .argument("[seq]", "the number of the message")
      .argument("[text...]", "the new text"),
  ).addHelpText(
    "after",
    `
throughline sessions show prints the number of each message after it.

Examples:
  throughline edit s_1m7g 12 "and in Rome?"
  throughline edit --last 12 "and in Rome?"`,
  );
  return runOptions(command, { choosesSession: false }).action(
    async (
      first: string,
      second: string | undefined,
      rest: readonly string[],
      flags: LastFlag & RunFlags,
    ) => {
      const words = second === undefined ? [first] : [first, second, ...rest];
      const [name, seq, ...text] = flags.last === true ? [undefined, ...words] : words;
      if (seq === undefined || text.length === 0) {
        throw codedError(
          "usage",
          "edit takes a session (or --last), the number of a message, and the new text",
        );
      }
      const at = wholeNumber("<seq>", seq, EVENT_NUMBER);
      const again = (session: Session, output: JsonObject | undefined): Turn =>
        session.edit(at, text.join(" "), { output });
      finish(await answerAgain(name, flags, terminal, again));
    },
  );
}

function answerAgain(
  name: string | undefined,
  flags: LastFlag & RunFlags,
  terminal: Terminal,
  start: (session: Session, output: JsonObject | undefined) => Turn,
): Promise<number> {
  const { output } = flags;
  enterDirectory(flags.directory);
  const schema = flags.outputSchema === undefined ? undefined : readOutputSchema(flags.outputSchema);
  const { directory: _entered, ...rest } = flags;
  return withSession(name, rest, { terminal, offline: false }, (opened) => {
    const { session, settings, costOf, instructions } = opened;
    const { permissions, showReasoning } = settings;
    const told = { json: flags.json === true, permissions, showReasoning, output, instructions, costOf };
    const turn = start(session, schema);
    return tellTurn(session, turn, { ...told, structured: structuredIn(session) }, terminal);
  });
}

async function withSession<T>(
  name: string | undefined,
  flags: LastFlag & RunFlags,
  how: { readonly terminal: Terminal; readonly offline: boolean },
  work: (opened: Opened) => Promise<T>,
): Promise<T> {
  enterDirectory(flags.directory);
  const resume = await sessionNamed(name, flags);
  const { directory: _entered, ...rest } = flags;
  const opened = await openSession({ ...rest, resume }, { interactive: false, ...how });
  try {
    return await work(opened);
  } finally {
    await opened.session.close();
  }
}

async function lastMessage(session: Session): Promise<UserMessage> {
  let last: UserMessage | undefined;
  for await (const event of session.events({ path: "active" })) {
    const isOpening = event.type === "user_message" && event.by === "person" && event.steer === undefined;
    if (isOpening) last = event;
  }
  if (last === undefined) throw codedError("nothing_to_undo", "there is no message to undo");
  return last;
}

function textOf(message: UserMessage): string {
  return shownParts(message.content).join(" ");
}
