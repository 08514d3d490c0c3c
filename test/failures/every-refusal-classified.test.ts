/**
 * Every refusal the emulator knows has a class: a refusal about the history leads to a correction, one about the request
 * alone is reported. The texts are those of docs/emulator.md, so a new entry has to be decided here too.
 */

import { readFileSync } from "node:fs";

import { describe, expect, test } from "vitest";

import { httpError } from "../../src/runtime/providers/index.ts";

/** About the request, the account or the address: the history is not to blame and is not changed. */
const TOLD: ReadonlySet<string> = new Set([
  "X-budget",
  "X-cache",
  "X-first", // the fold never begins with an answer (rule M16)
  "X-json",
  "X-key, X-key-missing", // by its status
  "X-large", // by its status or code
  "X-missing",
  "X-model", // by its code
  "X-n",
  "X-route, X-response, X-cancel",
  "X-thread", // the runtime keeps no thread at a provider
  "X-tools",
  "X-version",
]);

interface Refusal {
  readonly rule: string;
  readonly text: string;
}

function refusalsOf(document: string): readonly Refusal[] {
  const part = document.slice(document.indexOf("### Refusals"), document.indexOf("### Switches"));
  const entries = part.matchAll(/^- \*\*([^*]+)\*\*: .*\n {2}- Text: (.*)$/gm);
  return [...entries].flatMap(([, rule = "", texts = ""]) => {
    const whole = texts.replaceAll(/`… [^`]*`/g, ""); // the end of another text
    return [...whole.matchAll(/(?<!`)(`{1,2})(?!`)(.+?)(?<!`)\1(?!`)/g)]
      .map(([, , text = ""]) => text.trim().replaceAll("'…'", "'tools'").replaceAll("…", "3"))
      .filter((text) => text.length > 20 && /[A-Z `'"].* .* /.test(text))
      .map((text) => ({ rule, text }));
  });
}

const REFUSALS = refusalsOf(readFileSync("docs/emulator.md", "utf8"));

describe("every refusal has a class", () => {
  test("the document is parsed", () => {
    expect(REFUSALS.length).toBeGreaterThan(80);
  });

  test.each(REFUSALS.filter(({ rule }) => !TOLD.has(rule)))("$rule: $text", ({ text }) => {
    // By its text alone: a gateway may lose the code and the parameter.
    const body = JSON.stringify({ error: { message: text, type: "invalid_request_error", code: null } });
    expect(httpError(400, body, {}).class).not.toBe("OTHER");
  });
});
