/**
 * Where the sessions of a chat are: on this machine, or on a server. The interfaces work on handles and cannot tell the
 * two apart; what differs (how a session is opened, which files an @ can mean, how to come back) stands here.
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
import type { Terminal } from "./terminal.ts";

export interface ChatSessions {
  /** The session the flags mean. */
  open(): Promise<SessionHandle>;
  /** Another one, with its own model. */
  openOther(id: string): Promise<SessionHandle>;
  ports(): Ports;
  /** The files a person may mean behind an @; none where they are not on this machine. */
  files(): (() => Promise<readonly string[]>) | undefined;
  /** Stands first in the status: the directory, or the server. */
  name(): string;
  /** How to go on with a session later. */
  goOn(id: string): string;
  /** A turn under way goes on when this process leaves. */
  readonly outlives: boolean;
}

export function localSessions(
  flags: RunFlags,
  terminal: Terminal,
  options: { readonly tools?: readonly Tool[] },
): ChatSessions {
  let costOf: CostOf | undefined;
  const open = async (wanted: RunFlags): Promise<SessionHandle> => {
    const opened = await openSession(wanted, { interactive: true, attach: true, terminal, ...options });
    ({ costOf } = opened);
    return opened.session;
  };
  return {
    open: () => open(flags),
    openOther: (id) => open({ ...later(flags), resume: id }),
    ports: () => chatPorts(process.cwd(), terminal, costOf ?? unknownCost),
    files: () => projectFiles(process.cwd(), () => performance.now()),
    name: () => shortDirectory(process.cwd()),
    goOn: (id) => `throughline -r ${id}`,
    outlives: false,
  };
}

/** Before the first session is open. */
function unknownCost(): undefined {
  return undefined;
}

/**
 * Another session has its own model, and the directory has been entered. --trust was about the files as they were at the
 * start: what was edited since is asked about.
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

/** One connection for the whole chat: the link it may have been given works once. */
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
