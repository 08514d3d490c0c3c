/**
 * The slash commands, shared by the full and the line-based interface. A command works on the session handle; the
 * interface decides how to show the outcome and how the user makes a choice.
 */

import type { Input, SessionHandle, SessionSummary, Turn } from "../../base/api/index.ts";
import { closestTo, codedError, didYouMean, unmistakableLine } from "../../base/support/index.ts";
import type { CostOf } from "../../runtime/facts/index.ts";
import { thoughtsGoingWords } from "../fragments/index.ts";
import { mcp, sendPrompt } from "./mcp-commands.ts";
import type { Choice } from "./picker.ts";

/** The functions that the composition root gives to an interface. */
export interface Ports {
  readonly models: () => Promise<readonly Choice[]>;
  readonly efforts: readonly string[];
  readonly sessions: () => Promise<readonly SessionSummary[]>;
  /** Writes a session to a file and resolves to a message about it. */
  readonly exportSession: (handle: SessionHandle, file: string | undefined) => Promise<string>;
  /** Turns typed text into a message: attaches the files it names. Absent: the text is the message. */
  readonly inputOf?: (text: string, notice: (text: string) => void) => Input;
  /** The message of `/skill:NAME text`, or undefined if there is no such skill. Absent: there are no skills. */
  readonly skill?: (name: string, text: string) => string | undefined;
  readonly skills?: () => readonly { readonly name: string; readonly description: string }[];
  readonly costOf: CostOf;
  /** A command or an address for reading the whole session; `whereToInspect` is the same for its requests. */
  readonly whereToRead: (session: string) => string;
  readonly whereToInspect: (session: string) => string;
}

/** How an interface ends: permanently, or by opening another session. */
export type ChatEnd =
  | { readonly type: "leave" }
  | {
      readonly type: "open";
      readonly id: string;
      /** A message that could not be sent before, to send there. */
      readonly first?: string;
    }
  | { readonly type: "opened"; readonly handle: SessionHandle };

export interface CommandHost {
  readonly handle: SessionHandle;
  readonly ports: Ports;
  /** True while a turn is running. */
  readonly busy: boolean;
  readonly say: (text: string) => void;
  /** Shows the help; keys differ between interfaces. */
  readonly help: () => void;
  readonly choose: (
    title: string,
    choices: readonly Choice[],
    about?: (value: string) => Promise<string>,
  ) => Promise<string | undefined>;
  /** Sends a message into the running turn, or as usual if none is running. */
  readonly steer: (text: string) => void;
  /** Called when a command has started a turn. */
  readonly started: (turn: Turn) => void;
  /** Puts a message where it can be changed. When sent, it replaces the one at `seq`. */
  readonly rewrite: (message: { readonly seq: number; readonly text: string }) => void;
  readonly lastMessage: { readonly seq: number; readonly text: string } | undefined;
  readonly leave: (outcome: ChatEnd) => void;
}

export interface Command {
  readonly name: string;
  readonly argument?: string;
  readonly about: string;
  /** True if the command changes the history that a running turn depends on. */
  readonly needsQuiet?: boolean;
  readonly run: (host: CommandHost, argument: string) => Promise<void> | void;
}

export const COMMANDS: readonly Command[] = [
  {
    name: "/model",
    argument: "[name]",
    about: "switch to another model; shows what it would not get",
    run: switchModel,
  },
  { name: "/effort", argument: "[level]", about: "change the reasoning effort", run: switchEffort },
  {
    name: "/resume",
    argument: "[session]",
    about: "finish an interrupted turn, or open another session",
    run: resume,
  },
  { name: "/now", argument: "text", about: "send a message into the running turn; key: Ctrl+S", run: now },
  { name: "/fork", about: "continue in a copy of this session", needsQuiet: true, run: fork },
  {
    name: "/retry",
    argument: "[message]",
    about: "continue after a failure, or answer again; /retry message starts over",
    needsQuiet: true,
    run: retry,
  },
  {
    name: "/edit",
    argument: "[text]",
    about: "change the last message, on a new branch",
    needsQuiet: true,
    run: edit,
  },
  { name: "/undo", about: "undo the last message and everything after it", needsQuiet: true, run: undo },
  {
    name: "/compact",
    argument: "[text]",
    about: "summarise older turns; the text says what to keep",
    needsQuiet: true,
    run: compact,
  },
  { name: "/export", argument: "[file]", about: "write the session to a file", run: exportSession },
  { name: "/inspect", about: "show what the next request contains, and why", run: inspect },
  {
    name: "/allow",
    argument: "[rule]",
    about: "list the rules that allow calls, add one, or /allow remove RULE",
    run: allow,
  },
  {
    name: "/mcp",
    argument: "[reconnect]",
    about: "list MCP servers; connect them again; /mcp tools NAME",
    run: mcp,
  },
  { name: "/rename", argument: "title", about: "give the session a title", run: rename },
  { name: "/help", about: "show keys and commands", run: ({ help }) => help() },
  { name: "/exit", about: "exit; keep the session", run: ({ leave }) => leave({ type: "leave" }) },
];

/** Returns true if the line was a command. Usage errors are shown, not thrown. */
export async function runSlashCommand(line: string, host: CommandHost): Promise<boolean> {
  const found = /^(\/[A-Za-z]*)(?:\s+([^]*))?$/.exec(line.trim());
  if (found === null) return runNamed(line.trim(), host);
  const [, word = "", argument = ""] = found;
  const command = COMMANDS.find(({ name }) => name === word || (word === "/quit" && name === "/exit"));
  if (command === undefined) {
    const names = COMMANDS.map(({ name }) => name);
    const begun = names.filter((name) => name.startsWith(word));
    const near = begun.length > 0 ? begun : [closestTo(word, names)].filter((name) => name !== undefined);
    const hint =
      near.length === 0 || word === "/" ? "/help lists them." : `did you mean ${near.join(" or ")}?`;
    host.say(`Unknown command ${word}; ${hint}`);
    return true;
  }
  if (command.needsQuiet === true && host.busy) {
    host.say(`${word} has to wait until the turn ends; Esc stops it.`);
    return true;
  }
  await command.run(host, argument.trim());
  return true;
}

/** `/skill:NAME [text]`, or `/SERVER:PROMPT [arguments]`. */
async function runNamed(line: string, host: CommandHost): Promise<boolean> {
  const [, name, text = ""] = /^\/skill:(\S*)(?:\s+([^]*))?$/.exec(line) ?? [];
  if (name === undefined || host.ports.skill === undefined) return sendPrompt(host, line);
  const message = host.ports.skill(name, text);
  if (message === undefined) {
    const names = (host.ports.skills?.() ?? []).map((one) => one.name);
    const known = names.length === 0 ? "; this session has no skills" : `; use one of ${names.join(", ")}`;
    const wanted = unmistakableLine(name.slice(0, 64));
    throw codedError("usage", `there is no skill "${wanted}"${didYouMean(name, names) || known}`);
  }
  if (host.busy) host.say(`/skill:${name} has to wait until the turn ends; Esc stops it.`);
  else host.started(host.handle.send(message));
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
  const total = kept + dropped;
  if (total === 0) return "There are no thoughts yet, so none is lost.";
  const going = `${thoughtsGoingWords({ total, going: kept })} to ${name}`;
  if (dropped === 0) return `${going}.`;
  const stay = dropped === 1 ? "1 stays" : `${dropped} stay`;
  return `${going}; ${stay} in the log for the model that made ${dropped === 1 ? "it" : "them"}.`;
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
    throw codedError(
      "effort_invalid",
      `unknown effort "${level}"; use one of ${ports.efforts.join(", ")}${didYouMean(level, ports.efforts)}`,
    );
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
    host.say("There is no interrupted turn to finish, and no other session to open.");
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
      ? `no session "${wanted}"; /resume without a name lists them${didYouMean(
          wanted,
          sessions.flatMap(({ id, title }) => (title === undefined ? [id] : [id, title])),
        )}`
      : `"${wanted}" matches ${matches.length} sessions; give more of the id`,
  );
}

function now({ steer }: CommandHost, argument: string): void {
  if (argument === "") throw codedError("usage", "give a message: /now TEXT");
  steer(argument);
}

async function fork(host: CommandHost): Promise<void> {
  const child = await host.handle.fork();
  host.leave({ type: "opened", handle: child });
}

function retry({ handle, started }: CommandHost, argument: string): void {
  if (argument !== "" && argument !== "message")
    throw codedError(
      "usage",
      "use /retry to continue after a failure, or /retry message to start over from the message",
    );
  started(handle.retry({ from: argument === "message" ? "message" : undefined }));
}

function edit(host: CommandHost, argument: string): void {
  const { lastMessage } = host;
  if (lastMessage === undefined) {
    throw codedError("nothing_to_edit", "there is no message to change yet");
  }
  if (argument === "") host.rewrite(lastMessage);
  else host.started(host.handle.edit(lastMessage.seq, host.ports.inputOf?.(argument, host.say) ?? argument));
}

async function undo({ handle, say }: CommandHost): Promise<void> {
  await handle.undo();
  say("Undid the last message and everything after it. The log keeps them.");
}

async function compact({ handle, say }: CommandHost, argument: string): Promise<void> {
  say("Summarising older turns…");
  await handle.compact(argument === "" ? {} : { instructions: argument });
  say("Done. The next request sends the summary instead.");
}

async function exportSession({ handle, ports, say }: CommandHost, argument: string): Promise<void> {
  say(await ports.exportSession(handle, argument === "" ? undefined : argument));
}

async function inspect({ handle, ports, say }: CommandHost): Promise<void> {
  const decisions = await handle.explain();
  if (decisions.length === 0) {
    say("The session has no messages yet.");
    return;
  }
  const rows = decisions.map(({ seq, type, action, why }) =>
    `${String(seq).padStart(4)}  ${type.padEnd(17)} ${action.padEnd(9)} ${why}`.trimEnd(),
  );
  say([...rows, `More: ${ports.whereToInspect(handle.id)}`].join("\n"));
}

async function allow({ handle, say }: CommandHost, argument: string): Promise<void> {
  const removed = /^remove(?:\s+([^]*))?$/.exec(argument);
  if (removed !== null) {
    const rule = removed[1] ?? "";
    if (rule === "") throw codedError("usage", "name the rule: /allow remove RULE");
    await handle.disallow(rule);
    say(`No longer allowed: ${unmistakableLine(rule)}`);
  } else if (argument === "") say(rulesText(handle));
  else {
    await handle.allow(argument);
    say(
      `Allowed for this session: ${unmistakableLine(argument)}\nAn allowed program may run others. /allow remove RULE removes it.`,
    );
  }
}

function rulesText({ rules }: SessionHandle): string {
  if (rules.length === 0)
    return "No rules: every call that needs permission is asked about. /allow run_command:git * adds one.";
  const from = { agent: "from flags or settings", session: "for this session" } as const;
  return rules.map((one) => `${unmistakableLine(one.rule)}  (${from[one.from]})`).join("\n");
}

async function rename({ handle, say }: CommandHost, argument: string): Promise<void> {
  if (argument === "") {
    throw codedError("title_missing", "give a title: /rename TITLE");
  }
  await handle.rename(argument);
  say(`This session is now called “${argument}”.`);
}
