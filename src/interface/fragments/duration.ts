/** Formats durations: "4s", "1m 5s". They come from times measured in the log, so they survive a reload. */

/** Formats milliseconds for people: "<1s", "12s", "1m 5s", "2h 3m". */
export function formatDuration(ms: number): string {
  if (ms < 1000) return "<1s";
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${seconds % 60}s`;
  return `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
}
