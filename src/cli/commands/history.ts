/**
 * Going back without rewriting: `fork`, `retry`, `edit`, `undo`. Each is an event; what was left stays in the log.
 *
 * @module
 */

import { Command } from "commander";

import { sessionsFolder } from "../../config/index.ts";
import type { UserMessage } from "../../events/index.ts";
import { fileStore } from "../../log/index.ts";
import type { Session } from "../../session/index.ts";
import { ThroughlineError } from "../../support/index.ts";
import { resolveSession } from "../choose-session.ts";
import { EXIT } from "../exit-codes.ts";
import { inertLine } from "../inert-text.ts";
import { openSession, type RunFlags } from "../open-session.ts";
import { tellTurn } from "../run-once.ts";
import { runOptions } from "../run-options.ts";
import type { Terminal } from "../terminal.ts";

type Finish = (code: number) => void;

export function forkCommand(terminal: Terminal, finish: Finish): Command {
  return which(new Command("fork").description("a new session from a point of another; the original stays"))
    .option("--at <seq>", "the last event to take along (default: all of it)")
    .option("--id <id>", "the new session's id")
    .action(
      async (name: string | undefined, flags: Which & { readonly at?: string; readonly id?: string }) => {
        const at = flags.at === undefined ? undefined : seqFrom("--at", flags.at);
        await withSession(name, flags, terminal, async (session) => {
          const child = await session.fork({
            ...(at === undefined ? {} : { at }),
            ...(flags.id === undefined ? {} : { id: flags.id }),
          });
          terminal.stdout.write(`${child.id}\n`);
          await child.close();
        });
        finish(EXIT.ok);
      },
    );
}

export function undoCommand(terminal: Terminal, finish: Finish): Command {
  return which(new Command("undo").description("take back the last message and what came of it")).action(
    async (name: string | undefined, flags: Which) => {
      await withSession(name, flags, terminal, async (session) => {
        const last = await lastMessage(session);
        await session.truncate({ from: last.seq });
        terminal.stderr.write(`took back: ${inertLine(textOf(last), 80)}\n`);
      });
      finish(EXIT.ok);
    },
  );
}

export function retryCommand(terminal: Terminal, finish: Finish): Command {
  const command = which(new Command("retry").description("answer the last message again, on a new branch"));
  return runOptions(command, { choosesSession: false }).action(
    async (name: string | undefined, flags: Which & RunFlags) => {
      finish(
        await withSession(name, flags, terminal, (session) =>
          tellTurn(session, session.retry(), flags, terminal),
        ),
      );
    },
  );
}

export function editCommand(terminal: Terminal, finish: Finish): Command {
  const command = new Command("edit")
    .description("say an earlier message differently, on a new branch")
    .argument("<session>", "its id, a unique beginning of it, or its title")
    .argument("<seq>", "the message, by the number that sessions show prints behind it")
    .argument("<text...>", "what to say instead");
  return runOptions(command, { choosesSession: false }).action(
    async (name: string, seq: string, words: readonly string[], flags: RunFlags) => {
      const at = seqFrom("<seq>", seq);
      finish(
        await withSession(name, flags, terminal, (session) =>
          tellTurn(session, session.edit(at, words.join(" ")), flags, terminal),
        ),
      );
    },
  );
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
  terminal: Terminal,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const id = await resolveSession(
    fileStore(sessionsFolder()),
    { name, last: flags.last === true },
    process.cwd(),
  );
  const { session } = await openSession({ ...flags, resume: id }, { canAsk: false, terminal });
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}

async function lastMessage(session: Session): Promise<UserMessage> {
  let last: UserMessage | undefined;
  for await (const event of session.events({ path: "active" })) {
    if (event.type === "user_message" && event.by === "person") last = event;
  }
  if (last === undefined)
    throw new ThroughlineError({ code: "nothing_to_undo", message: "there is no message to take back" });
  return last;
}

function textOf(message: UserMessage): string {
  return message.content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join(" ");
}

function seqFrom(flag: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new ThroughlineError({
    code: "number_invalid",
    message: `${flag} ${text}: use the number of an event`,
  });
}
