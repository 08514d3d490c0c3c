/** Sizes, durations and counts as the inspector writes them. Pure. */

/** "0.6 KB", "11.8 KB", "1.2 MB". */
export function sizeWords(bytes: number): string {
  if (bytes < 999_950) return `${Math.max(0.1, bytes / 1000).toFixed(1)} KB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** With one decimal under a minute: "9 ms", "12.4s", "1m 05s", "2h 05m". */
export function exactTime(ms: number): string {
  if (ms < 1) return "<1 ms";
  if (ms < 99.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)}s`;
  return longTime(ms);
}

/** To read at a glance: "9 ms", "0.4s", "12s", "1m 05s". */
export function shortTime(ms: number): string {
  if (ms < 950) return exactTime(ms);
  return ms < 59_500 ? `${Math.round(ms / 1000)}s` : longTime(ms);
}

function longTime(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${String(seconds % 60).padStart(2, "0")}s`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)}h ${String(minutes % 60).padStart(2, "0")}m`;
}

/** "1 step", "5 steps". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

/** "2, 4–6, 9" of sorted numbers. */
export function rangesOf(sorted: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const value of sorted) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] + 1 === value) last[1] = value;
    else ranges.push([value, value]);
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`)).join(", ");
}
