import { expect, expectTypeOf, test } from "vitest";

import { type ErrorCode, type ErrorInfo, isThroughlineError, ThroughlineError } from "../../src/index.ts";
import { compileOnly } from "./compile-only.ts";

test("`ErrorCode` is a union of literals", () => {
  expectTypeOf<ErrorCode>().toExtend<string>();
  expectTypeOf<string>().not.toExtend<ErrorCode>();
  expectTypeOf<"session_locked" | "output_invalid">().toExtend<ErrorCode>();
  expectTypeOf<"hosted_invalid">().not.toExtend<ErrorCode>();
});

test("a thrown value narrows to an error with a code, details and `retryable`", () => {
  compileOnly((error: unknown) => {
    if (!isThroughlineError(error)) return false;
    expectTypeOf(error).toEqualTypeOf<ThroughlineError>();
    expectTypeOf(error.code).toEqualTypeOf<ErrorCode>();
    expectTypeOf(error.retryable).toEqualTypeOf<boolean>();
    expectTypeOf(error.details).toEqualTypeOf<Readonly<Record<string, unknown>>>();
    // @ts-expect-error there is no such code
    return error.code === "session_lock";
  });
});

test("a constructed error has one of the codes", () => {
  const error = new ThroughlineError({ code: "session_locked", message: "held" });
  expect(error).toMatchObject({ code: "session_locked", retryable: true, details: {} });
  compileOnly(() => [
    // @ts-expect-error there is no such code
    new ThroughlineError({ code: "oops", message: "held" }),
    // @ts-expect-error a message is required
    new ThroughlineError({ code: "internal" }),
    // @ts-expect-error `retryable` follows from the code
    new ThroughlineError({ code: "internal", message: "held", retryable: true }),
  ]);
});

test("the code of an `ErrorInfo` is any text, since providers have their own", () => {
  expectTypeOf<ErrorInfo["code"]>().toEqualTypeOf<string>();
});
