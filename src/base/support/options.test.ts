import { expect, test } from "vitest";

import { aChoice, aCount, aFunction, aSignal, aText, anything } from "./option-checks.ts";
import { checkOptions, nested } from "./options.ts";

const CHECKS = {
  model: anything,
  system: aText,
  permissions: aChoice("read-only", "ask"),
  limits: nested({ maxSteps: aCount(1) }),
  signal: aSignal,
  apiKey: aFunction,
};

const said = (given: unknown): string => {
  try {
    checkOptions("createAgent", given, CHECKS);
    return "accepted";
  } catch (error) {
    expect(error).toMatchObject({ code: "options_invalid" });
    return (error as Error).message;
  }
};

test("accepts known options, and undefined for any of them", () => {
  expect(said({})).toBe("accepted");
  expect(said({ model: 1, system: "x", limits: { maxSteps: undefined }, signal: undefined })).toBe(
    "accepted",
  );
  expect(said({ signal: new AbortController().signal, limits: { maxSteps: Infinity } })).toBe("accepted");
});

test.each([
  [{ systm: "x" }, 'createAgent: unknown option "systm"; did you mean "system"?'],
  [{ instructions: "x" }, 'createAgent: unknown option "instructions"; did you mean "system"?'],
  [{ maxSteps: 5 }, 'createAgent: unknown option "maxSteps"; did you mean "limits.maxSteps"?'],
  [
    { limits: { maxStep: 5 } },
    'createAgent: unknown option "limits.maxStep"; did you mean "limits.maxSteps"?',
  ],
  [
    { limits: { maxTurns: 5 } },
    'createAgent: unknown option "limits.maxTurns"; did you mean "limits.maxSteps"?',
  ],
  [{ abortSignal: undefined }, 'createAgent: unknown option "abortSignal"; did you mean "signal"?'],
  [
    { zebra: 1 },
    'createAgent: unknown option "zebra"; the options are model, system, permissions, limits, signal, apiKey',
  ],
  [{ ["__proto__"]: 1, constructor: 2 }, /unknown option "(__proto__|constructor)"/],
])("refuses an unknown option: %j", (given, message) => {
  expect(said(given)).toMatch(message);
});

test.each([
  [{ system: 42 }, "createAgent: system is 42: use a string"],
  [{ limits: 5 }, "createAgent: limits is 5: use an object with maxSteps"],
  [{ limits: { maxSteps: 1.5 } }, "createAgent: limits.maxSteps is 1.5: use a whole number, 1 or more"],
  [
    { limits: { maxSteps: Number.NaN } },
    "createAgent: limits.maxSteps is NaN: use a whole number, 1 or more",
  ],
  [{ limits: { maxSteps: "10" } }, 'createAgent: limits.maxSteps is "10": use a whole number, 1 or more'],
  [
    { permissions: "red-only" },
    'createAgent: permissions is "red-only": use "read-only", "ask"; did you mean "read-only"?',
  ],
  [
    { signal: new AbortController() },
    "createAgent: signal is an object: use the controller's signal: controller.signal",
  ],
  [undefined, "createAgent: the options are undefined: use an object"],
  [["x"], "createAgent: the options are an array: use an object"],
  ["x", 'createAgent: the options are "x": use an object'],
])("refuses a wrong value: %j", (given, message) => {
  expect(said(given)).toBe(message);
});

test("never repeats a value that may be a key", () => {
  expect(said({ apiKey: "sk-secret" })).toBe("createAgent: apiKey is a string: use a function");
});
