import { describe, expect, test } from "vitest";

import { answer } from "./built-in.ts";
import { looksFailed, looksRefused, tellsFailure } from "./turn.ts";

test.each([
  ["not executed: denied by the user", true],
  ["not executed: denied by the permission policy: permission is needed and there is nobody to ask", true],
  ["Permission denied", true],
  ['not executed: there is no tool "x"; available are: read_file', false],
  ["A file about permission, with nothing denied or refused in it", false],
  [`# Readme\n\naccess: read | write: all that the permission policy looks at\n${"x".repeat(800)}`, false],
])("%j counts as a refusal: %s", (result, refused) => {
  expect(looksRefused(result)).toBe(refused);
});

test("a long file that mentions errors did not fail", () => {
  expect(looksFailed("ENOENT: no such file or directory")).toBe(true);
  expect(looksFailed(`How errors are handled: an error is told.\n${"text ".repeat(300)}`)).toBe(false);
});

test.each([
  ['the tool "read_file" failed: "a.txt" does not exist. See what is there with list_files.', true],
  ['the tool "run_command" was stopped after 100 ms', true],
  ['not executed: there is no tool "x"; available are: read_file', true],
  ["Error: no such thing", true],
  ["TypeError: x is undefined", true],
  ["ENOENT: no such file or directory", true],
  ["# Errors\n\nHow an error is told, and what failed.", false],
  ["The tools of this house never failed.", false],
  ["result of read_file", false],
])("%j counts as a failure: %s", (result, failed) => {
  expect(tellsFailure(result)).toBe(failed);
});

const said = (text: string, name: string, result: string, failed?: boolean): string => {
  const { output } = answer({
    seen: [
      { type: "user", text },
      { type: "call", callId: "1", name, arguments: "{}" },
      { type: "result", callId: "1", text: result, failed },
    ],
    instructions: "",
    tools: [{ type: "function", name, parameters: { type: "object" } }],
    toolChoice: "auto",
    parallel: true,
    reasons: false,
    effort: "medium",
    summary: null,
    format: { type: "text" },
    lost: 0,
    model: "emu-reasoner",
  });
  return output.map((draft) => (draft.type === "message" ? draft.text : draft.type)).join("|");
};

describe("a failed tool is reported as failed, not as if it had worked:", () => {
  test.each([
    ["Read a.txt and summarise it.", "read_file", "That did not work: "],
    ["Explain while you work.", "list_files", "I found nothing, the tool failed: "],
    ["Use the lookup, please.", "lookup", "lookup failed: "],
  ])("%j", (text, name, told) => {
    const result = `the tool "${name}" failed: it is not there.`;
    expect(said(text, name, result)).toContain(`${told}${result}`);
    // If the dialect has a failure flag, the text may be anything.
    expect(said(text, name, "Nothing of the kind.", true)).toContain(`${told}Nothing of the kind.`);
    expect(said(text, name, "Nothing of the kind.")).not.toContain(told);
  });
});
