/** Formats numbers for reading at a glance. */

export function compact(count: number): string {
  if (count < 1000) return String(Math.round(count));
  if (count < 1_000_000) return `${(count / 1000).toFixed(count < 10_000 ? 1 : 0)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

/** Returns undefined if the cost is zero or unknown. */
export function dollars(usd: number | undefined): string | undefined {
  if (usd === undefined || usd === 0) return undefined;
  return usd < 0.001 ? "<$0.001" : `$${usd.toFixed(usd < 1 ? 3 : 2)}`;
}
