/** `list.push(...more)` passes every element as an argument, and above some 120,000 of them the stack overflows. */

export function addAll<T>(list: T[], more: readonly T[]): void {
  for (const one of more) list.push(one);
}
