/** "1 request", "2 requests". */

export function amount(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? "" : "s"}`;
}
