/** The state of a PostgreSQL store as lines for a person. */

import type { NodeStatus, StoreStatus } from "../../runtime/postgres/index.ts";
import { amount } from "./amount.ts";
import { inertLine } from "./inert-text.ts";

export function statusLines(status: StoreStatus): readonly string[] {
  const { sessions, inbox } = status;
  return [
    `store        version ${status.version} (this program: ${status.programVersion}), incarnation ${status.incarnation.slice(0, 8)}, ${inertLine(status.server, 80)}`,
    `sessions     ${sessions.count} of ${amount(sessions.tenants, "tenant")}, ${amount(sessions.events, "event")}, ${sizeOf(sessions.bytes)}; ${sessions.held} held, ${amount(sessions.openTurns, "open turn")}, ${sessions.waiting} waiting`,
    `inbox        ${amount(inbox.entries, "waiting request")}${inbox.oldestMs === null ? "" : `, the oldest from ${timeOf(inbox.oldestMs)} ago`}`,
    `tables       ${status.tables.map(({ name, bytes }) => `${name} ${sizeOf(bytes)}`).join(", ")}`,
    `hints        ${status.hints === "listening" ? "LISTEN works" : "polling: LISTEN does not work here; set THROUGHLINE_STORE_DIRECT to an address without a pooler"}`,
    `statements   ${status.prepared ? "prepared by name" : "not prepared"}`,
    `restores     ${status.noticesRestore ? "noticed by themselves" : "not noticed: after one, run throughline store restored"}`,
    ...(status.nodes.length === 0 ? ["nodes        none"] : []),
    ...status.nodes.map((node, index) => (index === 0 ? "nodes" : "").padEnd(13) + nodeText(node)),
  ];
}

function nodeText({ name, pool, program, alive, draining, leaseLeftMs, sessions }: NodeStatus): string {
  const life = alive
    ? `${draining ? "draining" : "alive"}, lease ${timeOf(leaseLeftMs)}`
    : `gone, its lease ended ${timeOf(-leaseLeftMs)} ago`;
  const of = pool === null ? "no pool" : `pool ${inertLine(pool, 64)}`;
  return `${inertLine(name, 100)}  ${of}, ${inertLine(program, 60)}, ${life}, ${amount(sessions, "session")}`;
}

const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB"];

export function sizeOf(bytes: number): string {
  let [size, unit] = [bytes, 0];
  while (size >= 1024 && unit < UNITS.length - 1) [size, unit] = [size / 1024, unit + 1];
  return `${unit === 0 ? size : size.toFixed(1)} ${UNITS[unit]}`;
}

/** In the largest unit that gives at least 1. */
export function timeOf(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 120) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}
