/** Closes an exhaustive `switch`: the compiler refuses a forgotten case, and at run time it is a loud bug. */
export function assertNever(value: never, what: string): never {
  throw new Error(`unexpected ${what}: ${JSON.stringify(value)}`);
}
