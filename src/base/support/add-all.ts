/**
 * `list.push(...more)` hands every element over as an argument, and above some 120,000 of them the stack is full.
 */

export function addAll<T>(list: T[], more: readonly T[]): void {
  for (const one of more) list.push(one);
}
