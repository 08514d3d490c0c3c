import { expect, test } from "vitest";

import { type TurnEnding, type TurnResult, turnResult } from "../../base/api/index.ts";
import { NO_USAGE } from "../../base/events/index.ts";
import { exitCodeOf } from "./exit-codes.ts";

const ended = (more: Partial<TurnEnding>): TurnResult =>
  turnResult({ status: "completed", text: "", steps: 1, usage: NO_USAGE, ...more });
const failed = (code: string): TurnResult => ended({ status: "failed", error: { code, message: code } });

test.for([
  ["an answer", ended({}), false, 0],
  ["an answer after a denial", ended({}), true, 3],
  ["a limit", ended({ status: "incomplete" }), false, 4],
  ["a limit after a denial", ended({ status: "incomplete" }), true, 4],
  ["stopped by a person", ended({ status: "cancelled" }), false, 130],
  ["interrupted", ended({ status: "interrupted" }), false, 130],
  ["a provider's error", failed("server_error"), false, 1],
  ["no key: a matter of settings", failed("api_key_missing"), false, 2],
] as const)("%s", ([, result, neededPermission, code]) => {
  expect(exitCodeOf(result, neededPermission)).toBe(code);
});
