/**
 * The sessions that this process holds for writing. An agent that opens one of them again gets another handle on the
 * same live session; any other agent is refused, because a session has one model, one set of tools and one policy.
 */

import { ThroughlineError } from "../../base/support/index.ts";
import { placeOf, type Store } from "../log/index.ts";
import { type Release, shareOf } from "./session-share.ts";
import { ownTools, sourcesIn } from "./session-tools.ts";
import type { LocalSession } from "./session.ts";
import type { AgentOptions, Session } from "./types.ts";

/** An agent, known by this object. */
export interface Owner {
  readonly options: AgentOptions;
}

interface Held {
  readonly owner: Owner;
  readonly opening: Promise<LocalSession>;
  handles: number;
  /** Set when the last handle is closed; settles when the session is released. */
  released: Promise<void> | undefined;
}

/** By store and id. */
const HELD = new Map<string, Held>();

/** Returns a handle on the live session, or opens it. Waits for a session that is just being released. */
export async function openShared(
  owner: Owner,
  store: Store,
  id: string,
  open: () => Promise<LocalSession>,
): Promise<Session> {
  const key = `${id} in ${placeOf(store)}`;
  for (;;) {
    const held = HELD.get(key);
    if (held === undefined) break;
    if (held.released !== undefined) {
      await held.released.catch(() => undefined);
      if (HELD.get(key) === held) HELD.delete(key);
      continue;
    }
    const isOurs = held.owner === owner;
    if (isOurs) held.handles += 1;
    const session = await held.opening;
    if (held.released === undefined && session.writer === "live") {
      if (isOurs) return shareOf(session, releaseOf(key, held));
      throw openElsewhere(id, held.owner.options, owner.options);
    }
    // It lost its log to another writer, or was closed meanwhile. Opening it again says what is wrong.
    if (isOurs) held.handles -= 1;
    if (held.released === undefined && HELD.get(key) === held) HELD.delete(key);
  }
  const held: Held = { owner, opening: open(), handles: 1, released: undefined };
  HELD.set(key, held);
  try {
    return shareOf(await held.opening, releaseOf(key, held));
  } catch (error) {
    if (HELD.get(key) === held) HELD.delete(key);
    throw error;
  }
}

/** Closes the session with the last handle. Any other handle only ends its own work. */
function releaseOf(key: string, held: Held): Release {
  return async (endOwn, beforeRelease, turns) => {
    held.handles -= 1;
    if (held.handles > 0) {
      await endOwn();
      return beforeRelease?.();
    }
    held.released = held.opening.then((session) => session.close(beforeRelease, turns));
    try {
      await held.released;
    } finally {
      if (HELD.get(key) === held) HELD.delete(key);
    }
  };
}

function openElsewhere(id: string, there: AgentOptions, here: AgentOptions): ThroughlineError {
  const differs = differencesOf(there, here);
  const how = differs.length === 0 ? "an agent of its own" : `an agent with other ${differs.join(", ")}`;
  return new ThroughlineError({
    code: "session_open_elsewhere",
    message: `session "${id}" is already open in this process, by ${how}. Use the agent that opened it, or close the session there first`,
    details: { session: id, differs },
  });
}

/** The options in which two agents differ; the ones that matter most come first. */
function differencesOf(there: AgentOptions, here: AgentOptions): readonly string[] {
  const names = new Set([...FIRST, ...Object.keys(there), ...Object.keys(here)] as (keyof AgentOptions)[]);
  return [...names].flatMap((name) => {
    const [before, now] = [there[name], here[name]];
    if (before === now || (name === "model" && sameModel(there, here))) return [];
    if (name === "tools")
      return sameTools(there, here) ? [] : [`tools (${toolNames(there)} there, ${toolNames(here)} here)`];
    if (name === "model") return [`model (${there.model.label} there, ${here.model.label} here)`];
    return typeof before !== "function" && sameText(before, now) ? [] : [name];
  });
}

const FIRST: readonly (keyof AgentOptions)[] = ["model", "tools", "permissions"];

/** Objects of the caller, such as a clock, may have no JSON text. */
function sameText(a: unknown, b: unknown): boolean {
  try {
    return JSON.stringify(a) === JSON.stringify(b);
  } catch {
    return false;
  }
}

function sameModel({ model: a }: AgentOptions, { model: b }: AgentOptions): boolean {
  return a.label === b.label && JSON.stringify(a.settings) === JSON.stringify(b.settings);
}

function sameTools({ tools: a = [] }: AgentOptions, { tools: b = [] }: AgentOptions): boolean {
  return a.length === b.length && a.every((one, index) => one === b[index]);
}

function toolNames(options: AgentOptions): string {
  const names = [...ownTools(options), ...sourcesIn(options)].map(({ name }) => name);
  return names.length === 0 ? "none" : names.join(" and ");
}
