/** How long ago, in few characters, and the days under which sessions are listed. Pure. */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** "now", "5m", "2h", "1d", then the date. */
export function ageOf(time: number, now: number): string {
  const ms = Math.max(0, now - time);
  if (ms < MINUTE) return "now";
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)}m`;
  if (dayOf(time) === dayOf(now)) return `${Math.floor(ms / HOUR)}h`;
  const days = Math.round((dayOf(now) - dayOf(time)) / DAY);
  if (days < 7) return `${days}d`;
  return new Date(time).toLocaleDateString(undefined, { month: "short", day: "numeric" });
}

/** Groups in the order of the list: today, yesterday, then the month. */
export function byDay<T extends { readonly modifiedAt: number }>(
  sessions: readonly T[],
  now: number,
): readonly (readonly [day: string, sessions: readonly T[]])[] {
  const groups: (readonly [day: string, sessions: T[]])[] = [];
  for (const session of sessions) {
    const name = nameOf(session.modifiedAt, now);
    const last = groups.at(-1);
    if (last?.[0] === name) last[1].push(session);
    else groups.push([name, [session]]);
  }
  return groups;
}

function nameOf(time: number, now: number): string {
  const days = Math.round((dayOf(now) - dayOf(time)) / DAY);
  if (days <= 0) return "Today";
  if (days === 1) return "Yesterday";
  const date = new Date(time);
  const isThisYear = date.getFullYear() === new Date(now).getFullYear();
  return date.toLocaleDateString(undefined, { month: "long", ...(isThisYear ? {} : { year: "numeric" }) });
}

function dayOf(time: number): number {
  return new Date(time).setHours(0, 0, 0, 0);
}
