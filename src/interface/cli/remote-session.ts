/**
 * `--server URL`: uses the sessions of a server like local ones. The token is in THROUGHLINE_TOKEN or its file, or the URL is the
 * link that the server printed.
 */

import {
  connect,
  type HandleSendOptions,
  type RemoteAgent,
  type SessionHandle,
} from "../../access/client/index.ts";
import { asEffort } from "../../base/events/index.ts";
import { codedError, codeOf, isoTime, type ThroughlineError } from "../../base/support/index.ts";
import { loadConfig } from "../config/index.ts";
import { costsWith } from "./cost.ts";
import type { TellOptions, TellSession } from "./run-once.ts";
import type { RunFlags } from "./run-options.ts";
import { serverToken } from "./server-token.ts";
import type { SessionRow } from "./session-rows.ts";

export interface RemoteRun extends TellSession {
  readonly handle: SessionHandle;
  readonly options: HandleSendOptions;
  readonly told: TellOptions;
}

export async function connectTo(address: string): Promise<RemoteAgent> {
  const token = serverToken();
  try {
    return await connect(address, token === undefined ? {} : { token });
  } catch (error) {
    if (codeOf(error) === "code_used") throw usedLink(address, error);
    if (codeOf(error) !== "unauthorized") throw error;
    const given = token === undefined ? "needs a token" : "rejected the token";
    throw codedError(
      "unauthorized",
      `${originOf(address)} ${given}: set THROUGHLINE_TOKEN to the token the server was started with, or pass a link to --server (throughline serve --link prints a new one)`,
      error,
    );
  }
}

function usedLink(address: string, cause: unknown): ThroughlineError {
  return codedError(
    "code_used",
    `the link grants no access: it was already used, or is not from this server. Use a new link (throughline serve --link prints one), or --server ${originOf(address)} with THROUGHLINE_TOKEN set to the server's token`,
    cause,
  );
}

/** Returns the address without a link's code, which is a secret until it has been used. */
export function originOf(address: string): string {
  return new URL(address).origin;
}

export async function openRemote(address: string, flags: RunFlags): Promise<RemoteRun> {
  const handle = await openHandle(await connectTo(address), flags);
  return {
    handle,
    id: handle.id,
    location: originOf(address),
    model: handle.model,
    events: (options) => handle.events(options),
    options: { effort: flags.effort === undefined ? undefined : asEffort(flags.effort) },
    told: {
      showReasoning: flags.showReasoning,
      output: flags.output,
      costOf: costsWith(loadConfig(process.cwd()).values),
    },
  };
}

/** Opens the session that the flags name, with the model they name. */
export async function openHandle(agent: RemoteAgent, flags: RunFlags): Promise<SessionHandle> {
  const id = await chosen(agent, flags);
  const handle = await agent.open({ id, model: flags.model });
  if (id !== undefined && flags.model !== undefined) await handle.setModel(flags.model);
  return handle;
}

/** Finds a session by id, a unique prefix of the id, or title; `-c` means the newest session on the server. */
async function chosen(agent: RemoteAgent, flags: RunFlags): Promise<string | undefined> {
  const name = flags.resume;
  if (name === undefined && flags.continue !== true) return undefined;
  if (name === undefined) {
    const [newest] = await agent.list({ limit: 1 });
    if (newest !== undefined) return newest.id;
    throw codedError("session_not_found", "the server has no sessions yet");
  }
  const found = await agent.list({ search: name, limit: 1000 });
  const exact = found.filter(({ id, title }) => id === name || title === name);
  const fitting = exact.length > 0 ? exact : found.filter(({ id }) => id.startsWith(name));
  const [only, ...more] = fitting;
  if (only !== undefined && more.length === 0) return only.id;
  throw codedError(
    only === undefined ? "session_not_found" : "session_ambiguous",
    only === undefined
      ? `the server has no session "${name.slice(0, 80)}"`
      : `"${name.slice(0, 80)}" matches ${fitting.length} sessions: ${fitting
          .map(({ id }) => id)
          .slice(0, 5)
          .join(", ")}`,
  );
}

/** Lists a server's sessions in the form of the local list. */
export async function* remoteRows(address: string, cwd: string | undefined): AsyncGenerator<SessionRow> {
  for await (const one of (await connectTo(address)).sessions()) {
    if (cwd !== undefined && one.cwd !== cwd) continue;
    const { id, bytes, title, turns = 0, subAgentOf, problem } = one;
    yield { id, modifiedAt: isoTime(one.modifiedAt), bytes, title, cwd: one.cwd, turns, subAgentOf, problem };
  }
}
