import { expect } from "vitest";

/** Takes a function whose body the compiler checks and that never runs. */
export function compileOnly(check: (...args: never[]) => unknown): void {
  expect(check).toBeTypeOf("function");
}
