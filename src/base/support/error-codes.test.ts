import { expect, test } from "vitest";

import { asErrorCode, ERROR_CODES, isRetryable } from "./error-codes.ts";
import { codedError } from "./errors.ts";

test("the codes are unique and in alphabetical order", () => {
  expect(ERROR_CODES).toEqual([...new Set(ERROR_CODES)].toSorted());
  for (const code of ERROR_CODES) expect(code).toMatch(/^[a-z]+(?:_[a-z]+)*$/);
});

test("asErrorCode returns a known code and otherwise the fallback", () => {
  expect(asErrorCode("session_locked", "server_error")).toBe("session_locked");
  for (const code of ["http_500", "", "constructor", "__proto__", "SESSION_LOCKED", undefined])
    expect(asErrorCode(code, "server_error")).toBe("server_error");
});

test("an error is retryable if its code is", () => {
  expect(codedError("session_locked", "held").retryable).toBe(true);
  expect(codedError("options_invalid", "wrong").retryable).toBe(false);
  expect(ERROR_CODES.some(isRetryable)).toBe(true);
});
