/**
 * The sessions of a chat, on this machine or on a server. The interfaces work on handles and cannot tell the two apart.
 * This file holds the differences: how to open a session, which files an @ can mean, how to continue later.
 */

import { homedir } from "node:os";
import { basename } from "node:path";

import type { SessionHandle } from "../../base/api/index.ts";
import { asEffort } from "../../base/events/index.ts";
import type { CostOf } from "../../runtime/facts/index.ts";
import type { Tool } from "../../runtime/tools/index.ts";
import type { Ports } from "../tui/index.ts";
import { chatPorts, remotePorts } from "./chat-ports.ts";
import { enterDirectory, openSession, type RunFlags } from "./open-session.ts";
import { projectFiles } from "./project-files.ts";
import { connectTo, openHandle, originOf } from "./remote-session.ts";
import type { Skill } from "./skills.ts";
import type { Terminal } from "./terminal.ts";

export interface ChatSessions {
  /** Opens the session that the flags name. */
  open(): Promise<SessionHandle>;
  /** Opens another session, with its own model. */
  openOther(id: string): Promise<SessionHandle>;
  ports(): Ports;
  /** Lists the files that an @ can name; undefined if they are not on this machine. */
  files(): (() => Promise<readonly string[]>) | undefined;
  /** The first part of the status line: the directory or the server. */
  name(): string;
  /** The command line that continues a session later. */
  goOn(id: string): string;
  /** True if a running turn continues after this process exits. */
  readonly outlives: boolean;
}

export function localSessions(
  flags: RunFlags,
  terminal: Terminal,
  options: { readonly tools?: readonly Tool[] },
): ChatSessions {
  let costOf: CostOf | undefined;
  let skills: readonly Skill[] = [];
  const open = async (wanted: RunFlags): Promise<SessionHandle> => {
    const opened = await openSession(wanted, { interactive: true, attach: true, terminal, ...options });
    ({ costOf, skills } = opened);
    return opened.session;
  };
  return {
    open: () => open(flags),
    openOther: (id) => open({ ...later(flags), resume: id }),
    ports: () => chatPorts(process.cwd(), terminal, { costOf: costOf ?? unknownCost, skills }, flags),
    files: () => projectFiles(process.cwd(), () => performance.now()),
    name: () => shortDirectory(process.cwd()),
    // The address is not repeated: nothing of it may be shown.
    goOn: (id) => `throughline -r ${id}${flags.store === undefined ? "" : " (with the same --store)"}`,
    outlives: false,
  };
}

/** Used until the first session is open. */
function unknownCost(): undefined {
  return undefined;
}

/**
 * The flags for opening another session. It has its own model, and the directory has been entered already. --trust
 * covered the files as they were at the start, so the user is asked about later edits.
 */
function later({
  model: _model,
  effort: _effort,
  continue: _continue,
  directory: _directory,
  trust: _trust,
  ...rest
}: RunFlags): RunFlags {
  return rest;
}

/** Uses one connection for the whole chat, because a login link works only once. */
export async function remoteSessions(
  address: string,
  flags: RunFlags,
  terminal: Terminal,
): Promise<ChatSessions> {
  enterDirectory(flags.directory);
  const effort = flags.effort === undefined ? undefined : asEffort(flags.effort);
  const agent = await connectTo(address);
  const url = originOf(address);
  return {
    open: async () => {
      const handle = await openHandle(agent, flags);
      if (effort !== undefined) await handle.setModel(`${handle.model.label}:${effort}`);
      return handle;
    },
    openOther: (id) => agent.open({ id, mode: "read" }),
    ports: () => remotePorts(agent, url, terminal),
    files: () => undefined,
    name: () => new URL(url).host,
    goOn: (id) => `throughline --server ${url} -r ${id}`,
    outlives: true,
  };
}

const LONG_DIRECTORY = 24;

function shortDirectory(path: string): string {
  const home = homedir();
  const short = path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
  return short.length <= LONG_DIRECTORY ? short : `…/${basename(short)}`;
}
