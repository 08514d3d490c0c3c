/**
 * What a person can say with a slash, the same in the full interface and in the line-based one. A command works on the
 * session handle; how its outcome is shown and how a choice is made is the surface's business.
 */

import type { SessionHandle, SessionSummary, Turn } from "../../base/api/index.ts";
import { codedError } from "../../base/support/index.ts";
import type { CostOf } from "../../runtime/facts/index.ts";
import type { Choice } from "./picker.ts";

/** What the composition root lends to an interface. */
export interface Ports {
  readonly models: () => Promise<readonly Choice[]>;
  readonly efforts: readonly string[];
  readonly sessions: () => Promise<readonly SessionSummary[]>;
  /** Writes a session to a file and resolves to a word about it. */
  readonly exportSession: (handle: SessionHandle, file: string | undefined) => Promise<string>;
  readonly costOf: CostOf;
  /** Where a person can read the whole session, and look into its requests: a command, or an address. */
  readonly whereToRead: (session: string) => string;
  readonly whereToInspect: (session: string) => string;
}

/** How an interface ends: for good, or with another session. */
export type ChatEnd =
  | { readonly type: "leave" }
  | { readonly type: "open"; readonly id: string }
  | { readonly type: "opened"; readonly handle: SessionHandle };

export interface CommandHost {
  readonly handle: SessionHandle;
  readonly ports: Ports;
  /** A turn is under way. */
  readonly busy: boolean;
  readonly say: (text: string) => void;
  /** Keys differ from surface to surface. */
  readonly help: () => void;
  readonly choose: (
    title: string,
    choices: readonly Choice[],
    about?: (value: string) => Promise<string>,
  ) => Promise<string | undefined>;
  /** A turn was started by a command. */
  readonly started: (turn: Turn) => void;
  /** Puts a message where it can be changed; sent, it takes the place of the one at `seq`. */
  readonly rewrite: (message: { readonly seq: number; readonly text: string }) => void;
  readonly lastMessage: { readonly seq: number; readonly text: string } | undefined;
  readonly leave: (outcome: ChatEnd) => void;
}

export interface Command {
  readonly name: string;
  readonly argument?: string;
  readonly about: string;
  /** Changes what a turn under way stands on. */
  readonly needsQuiet?: boolean;
  readonly run: (host: CommandHost, argument: string) => Promise<void> | void;
}

export const COMMANDS: readonly Command[] = [
  {
    name: "/model",
    argument: "[name]",
    about: "go on with another model; says what it would not get",
    run: switchModel,
  },
  { name: "/effort", argument: "[level]", about: "how hard the model thinks", run: switchEffort },
  {
    name: "/resume",
    argument: "[session]",
    about: "finish an interrupted turn, or open another session",
    run: resume,
  },
  { name: "/fork", about: "go on in a copy; this session stays as it is", needsQuiet: true, run: fork },
  {
    name: "/retry",
    argument: "[message]",
    about: "go on after a failure, or answer the last message again; message: from the message on",
    needsQuiet: true,
    run: retry,
  },
  {
    name: "/edit",
    argument: "[text]",
    about: "say the last message differently, on a new branch",
    needsQuiet: true,
    run: edit,
  },
  { name: "/undo", about: "take back the last message and what came of it", needsQuiet: true, run: undo },
  {
    name: "/compact",
    argument: "[words]",
    about: "summarise what is behind; the words say what to keep",
    needsQuiet: true,
    run: compact,
  },
  { name: "/export", argument: "[file]", about: "write the session to a file", run: exportSession },
  { name: "/inspect", about: "what the next request carries, and why", run: inspect },
  { name: "/rename", argument: "title", about: "give the session a title", run: rename },
  { name: "/help", about: "keys and commands", run: ({ help }) => help() },
  { name: "/exit", about: "leave; the session stays", run: ({ leave }) => leave({ type: "leave" }) },
];

/** True when the line was a command. What is wrong with it is said, not thrown. */
export async function runSlashCommand(line: string, host: CommandHost): Promise<boolean> {
  const found = /^(\/[A-Za-z]*)(?:\s+([^]*))?$/.exec(line.trim());
  if (found === null) return false;
  const [, word = "", argument = ""] = found;
  const command = COMMANDS.find(({ name }) => name === word || (word === "/quit" && name === "/exit"));
  if (command === undefined) {
    const near = COMMANDS.filter(({ name }) => name.startsWith(word)).map(({ name }) => name);
    const hint =
      near.length === 0 || word === "/" ? "/help lists them" : `did you mean ${near.join(" or ")}?`;
    host.say(`There is no command ${word}; ${hint}.`);
    return true;
  }
  if (command.needsQuiet === true && host.busy) {
    host.say(`${word} has to wait until the turn is over; Esc stops it.`);
    return true;
  }
  await command.run(host, argument.trim());
  return true;
}

async function switchModel(host: CommandHost, argument: string): Promise<void> {
  const { handle, ports } = host;
  const about = async (name: string): Promise<string> => switchText(await handle.previewSwitch(name), name);
  const name = argument === "" ? await host.choose("Model", await ports.models(), about) : argument;
  if (name === undefined) return;
  const told = await about(name);
  await handle.setModel(name);
  host.say(`Next: ${handle.model.label}${effortOf(handle)}. ${told}`);
}

function switchText(
  { kept, dropped }: { readonly kept: number; readonly dropped: number },
  name: string,
): string {
  if (kept + dropped === 0) return "There are no thoughts yet that could be dropped behind.";
  if (dropped === 0)
    return `The ${kept === 1 ? "thought" : `${kept} thoughts`} so far go${kept === 1 ? "es" : ""} along.`;
  const all = kept + dropped;
  const stay = dropped === 1 ? "1 stays" : `${dropped} stay`;
  return `Of ${all} ${all === 1 ? "thought" : "thoughts"} so far ${kept} ${kept === 1 ? "goes" : "go"} to ${name}; ${stay} in the log for the model that made ${dropped === 1 ? "it" : "them"}.`;
}

function effortOf(handle: SessionHandle): string {
  const { effort } = handle.model.settings;
  return effort === undefined ? "" : `:${effort}`;
}

async function switchEffort(host: CommandHost, argument: string): Promise<void> {
  const { handle, ports } = host;
  const level =
    argument === ""
      ? await host.choose(
          "Effort",
          ports.efforts.map((value) => ({ value, label: value })),
        )
      : argument;
  if (level === undefined) return;
  if (!ports.efforts.includes(level)) {
    throw codedError("effort_invalid", `"${level}" is not an effort; use one of ${ports.efforts.join(", ")}`);
  }
  await handle.setModel(`${handle.model.label}:${level}`);
  host.say(`Next: ${handle.model.label}${effortOf(handle)}.`);
}

async function resume(host: CommandHost, argument: string): Promise<void> {
  const { handle, ports } = host;
  if (argument === "" && handle.interrupted) {
    host.started(handle.resume());
    return;
  }
  const sessions = await ports.sessions();
  const choices = sessions
    .filter(({ id, problem }) => id !== handle.id && problem === undefined)
    .map(({ id, title, cwd }) => ({
      value: id,
      label: title ?? id,
      note: [id, cwd].filter(Boolean).join("  "),
    }));
  if (argument === "" && choices.length === 0) {
    host.say("There is no interrupted turn here and no other session.");
    return;
  }
  const id = argument === "" ? await host.choose("Session", choices) : sessionNamed(sessions, argument);
  if (id !== undefined) host.leave({ type: "open", id });
}

function sessionNamed(sessions: readonly SessionSummary[], wanted: string): string {
  const exact = sessions.filter(({ id, title }) => id === wanted || title === wanted);
  const matches = exact.length > 0 ? exact : sessions.filter(({ id }) => id.startsWith(wanted));
  const [first] = matches;
  if (first !== undefined && matches.length === 1) return first.id;
  throw codedError(
    "session_not_found",
    matches.length === 0
      ? `there is no session "${wanted}"; /resume alone lists them`
      : `"${wanted}" fits ${matches.length} sessions; give more of the id`,
  );
}

async function fork(host: CommandHost): Promise<void> {
  const child = await host.handle.fork();
  host.leave({ type: "opened", handle: child });
}

function retry({ handle, started }: CommandHost, argument: string): void {
  if (argument !== "" && argument !== "message")
    throw codedError("usage", "/retry goes on after a failure; /retry message answers from the message on");
  started(handle.retry({ from: argument === "message" ? "message" : undefined }));
}

function edit(host: CommandHost, argument: string): void {
  const { lastMessage } = host;
  if (lastMessage === undefined) {
    throw codedError("nothing_to_edit", "there is no message to change yet");
  }
  if (argument === "") host.rewrite(lastMessage);
  else host.started(host.handle.edit(lastMessage.seq, argument));
}

async function undo({ handle, say }: CommandHost): Promise<void> {
  await handle.undo();
  say("Took back the last message and what came of it. It stays in the log.");
}

async function compact({ handle, say }: CommandHost, argument: string): Promise<void> {
  say("Summarising what is behind…");
  await handle.compact(argument === "" ? {} : { instructions: argument });
  say("Done: the next request carries the summary instead.");
}

async function exportSession({ handle, ports, say }: CommandHost, argument: string): Promise<void> {
  say(await ports.exportSession(handle, argument === "" ? undefined : argument));
}

async function inspect({ handle, ports, say }: CommandHost): Promise<void> {
  const decisions = await handle.explain();
  if (decisions.length === 0) {
    say("Nothing has been said yet.");
    return;
  }
  const rows = decisions.map(({ seq, type, action, why }) =>
    `${String(seq).padStart(4)}  ${type.padEnd(17)} ${action.padEnd(9)} ${why}`.trimEnd(),
  );
  say([...rows, `More: ${ports.whereToInspect(handle.id)}`].join("\n"));
}

async function rename({ handle, say }: CommandHost, argument: string): Promise<void> {
  if (argument === "") {
    throw codedError("title_missing", "write the title behind /rename");
  }
  await handle.rename(argument);
  say(`This session is called “${argument}” now.`);
}
