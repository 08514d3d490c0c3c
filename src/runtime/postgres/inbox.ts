/**
 * What was asked of a session that any node may hold: turns that wait, and commands. A row is durable before it is
 * acknowledged. The log is what makes it count once: its holder skips what the log already has, and removes the row when
 * the log has the result.
 */

import { codedError, isObject, type JsonObject, tryParseJson } from "../../base/support/index.ts";
import { type Admission, type Command, notFound, type Waiting, type WaitingTurn } from "../log/index.ts";
import { overtaken } from "./appender.ts";
import type { Connections } from "./connections.ts";
import type { Row } from "./lane.ts";
import type { Statements } from "./statements.ts";
import type { Held } from "./watcher.ts";

export interface InboxParts {
  readonly connections: Connections;
  readonly statements: Statements;
  readonly tenant: string;
  readonly pool: string | undefined;
  /** The log of this session that this node writes, if it writes one. */
  readonly held: (id: string) => Held | undefined;
  /** Tells other nodes to look. */
  readonly hint: (sessions: readonly string[]) => void;
}

export function admissionOf(row: Row | undefined): Admission {
  const alive = row?.["alive"] === true;
  return {
    holder: alive ? String(row["holder_name"]) : undefined,
    takesCommands: alive && row["holder_pool"] !== null,
    wakes: row?.["wakes"] === true,
  };
}

export async function admit(
  parts: InboxParts,
  id: string,
  { key, kind, body }: { readonly key: string; readonly kind: string; readonly body: JsonObject },
): Promise<Admission> {
  const { connections, statements, tenant, pool, hint } = parts;
  const values = [tenant, id, key, kind, JSON.stringify(body), pool ?? null];
  const [row] = await connections.ask(statements.admit, values);
  if (row === undefined) throw notFound(id);
  hint([id]);
  return admissionOf(row);
}

/** All rows of a session, in the order of their admission, and how many admissions there were. */
export async function readInbox(
  { connections, statements, tenant }: InboxParts,
  id: string,
): Promise<{
  readonly asked: string;
  readonly turns: readonly WaitingTurn[];
  readonly commands: readonly Command[];
}> {
  const rows = await connections.ask(statements.inbox, [tenant, id]);
  const turns: WaitingTurn[] = [];
  const commands: Command[] = [];
  for (const row of rows) {
    const body = tryParseJson(String(row["body"]));
    const { key } = row;
    if (typeof key !== "string" || !isObject(body)) continue; // a session with an empty inbox has one row without a key
    if (row["kind"] === "send")
      turns.push({ turn: key, request: body, cancelled: row["cancelled"] === true });
    else commands.push({ key, kind: row["kind"] === "cancel" ? "cancel" : "decide", body });
  }
  const asked = rows[0]?.["asked"];
  return { asked: typeof asked === "string" ? asked : "0", turns, commands };
}

/**
 * Removes rows that the log of this writer makes superfluous. Its log must be the one in the database: after a promotion
 * the database may have lost events that this writer still has, and with them the reason to remove a row.
 */
export async function settle(
  { connections, statements, tenant, held }: InboxParts,
  id: string,
  keys: readonly string[],
): Promise<void> {
  const log = held(id);
  if (log?.hold === undefined || keys.length === 0) return; // the next writer finds them, and what the log says of them
  const { fence, holder } = log.hold;
  await connections.ask(statements.settleInbox, [tenant, id, keys, fence, holder, log.events.length]);
}

export function inboxWaiting(parts: InboxParts, id: string): Waiting {
  const { connections, statements, tenant } = parts;
  /** One after the other, in the order of the calls. */
  let last: Promise<unknown> = Promise.resolve();
  const inOrder = <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(work, work);
    last = result.catch(() => undefined);
    return result;
  };
  const list = async (): Promise<readonly WaitingTurn[]> => (await readInbox(parts, id)).turns;
  return {
    list,
    recover: () => inOrder(async () => ({ turns: await list() })),
    add: (turn, request) =>
      inOrder(async () => {
        if (turn.includes(":"))
          throw codedError("turn_invalid", "a turn id must have 1 to 64 letters, digits, _ or -");
        await admit(parts, id, { key: turn, kind: "send", body: request });
      }),
    cancel: (turn) => {
      const hold = parts.held(id)?.hold; // what the caller knows of the turn belongs to this hold, and to no later one
      return inOrder(async () => {
        const values = [tenant, id, turn, hold?.fence ?? null, hold?.holder ?? null];
        const [row] = await connections.ask(statements.cancelWaiting, values);
        if (row === undefined) throw overtaken(id, undefined);
      });
    },
    remove: (turn) => inOrder(() => settle(parts, id, [turn])),
  };
}
