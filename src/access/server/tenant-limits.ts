/**
 * How much of the server a tenant may use. Turns are counted on this node, sessions and their size in the store. A burst
 * may pass the limit of the store by the requests that are under way.
 */

import { codedError } from "../../base/support/index.ts";
import type { Store } from "../../runtime/log/index.ts";
import type { HostedSession } from "./hosted-session.ts";
import type { ServerLimits } from "./limits.ts";
import type { SessionHost } from "./session-host.ts";

type Limits = Pick<ServerLimits, "tenantTurns" | "tenantSessions" | "tenantBytes">;

/** Called before a turn is accepted. A session that is busy anyway only gets one more turn to wait. */
export async function assertRoomForTurn(
  limits: Limits,
  host: SessionHost,
  store: Store,
  hosted: () => Promise<HostedSession>,
): Promise<void> {
  if (host.busy >= limits.tenantTurns && !(await hosted()).turns.busy)
    throw codedError(
      "too_many_turns",
      `${limits.tenantTurns} sessions already have a turn on this server. Wait until some of them have ended`,
    );
  await assertBytes(limits, store);
}

/** Called before a session is made. */
export async function assertRoomForSession(limits: Limits, store: Store): Promise<void> {
  if (limits.tenantSessions === Infinity) return assertBytes(limits, store);
  const { sessions, bytes } = await usageOf(store);
  if (sessions >= limits.tenantSessions)
    throw full(`there are already ${sessions} sessions, and ${limits.tenantSessions} are allowed`);
  refuseAbove(limits, bytes);
}

async function assertBytes(limits: Limits, store: Store): Promise<void> {
  if (limits.tenantBytes < Infinity) refuseAbove(limits, (await usageOf(store)).bytes);
}

function refuseAbove({ tenantBytes }: Limits, bytes: number): void {
  if (bytes >= tenantBytes)
    throw full(`the sessions have ${bytes} bytes together, and ${tenantBytes} are allowed`);
}

async function usageOf(store: Store): Promise<{ readonly sessions: number; readonly bytes: number }> {
  if (store.shared !== undefined) return store.shared.usage();
  const all = { sessions: 0, bytes: 0 };
  for await (const { bytes } of store.list({ summaries: false })) {
    all.sessions += 1;
    all.bytes += bytes;
  }
  return all;
}

function full(why: string): Error {
  return codedError("tenant_full", `${why}. Remove sessions that are no longer needed`);
}
