/** Closes an exhaustive `switch`: a forgotten case does not compile, and throws at run time. */
export function assertNever(value: never, what: string): never {
  throw new Error(`unexpected ${what}: ${JSON.stringify(value)}`);
}
