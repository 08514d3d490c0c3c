/** Formats durations: "9 ms", "0.4s", "12s", "1m 05s". They come from times measured in the log, so they survive a reload. */

/** Formats milliseconds for people: "9 ms", "0.4s", "12s", "1m 05s", "2h 03m". */
export function formatDuration(ms: number): string {
  if (ms < 99.5) return `${Math.round(Math.max(0, ms))} ms`;
  if (ms < 950) return `${(ms / 1000).toFixed(1)}s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${twoDigits(seconds % 60)}s`;
  return `${Math.floor(minutes / 60)}h ${twoDigits(minutes % 60)}m`;
}

function twoDigits(amount: number): string {
  return String(amount).padStart(2, "0");
}
