import { expect, test } from "vitest";

import type { ElicitationAnswer, ElicitationField, ElicitationRequest } from "../../base/events/index.ts";
import { ElicitationPrompt } from "./elicitation-prompt.ts";
import { createStyle } from "./style.ts";

const style = createStyle(false);

function prompt(more: Partial<ElicitationRequest>): {
  readonly asked: ElicitationPrompt;
  readonly answers: ElicitationAnswer[];
  readonly rows: (width?: number, most?: number) => readonly string[];
} {
  const answers: ElicitationAnswer[] = [];
  const asked = new ElicitationPrompt({
    request: {
      v: 1,
      seq: 1,
      id: "e",
      at: "2026-01-01T00:00:00.000Z",
      epoch: 1,
      type: "elicitation_request",
      response: "r",
      requestId: "el",
      callId: "c",
      server: "people",
      message: "Well?",
      mode: "form",
      ...more,
    },
    onAnswer: async (answer) => void answers.push(answer),
  });
  return { asked, answers, rows: (width = 60, most = 20) => asked.render(width, most, style).rows };
}

const type = (asked: ElicitationPrompt, text: string): void => {
  for (const char of text) asked.key(char);
};

const options = Array.from({ length: 40 }, (_, n) => ({ value: `v${n}`, title: `Title ${n}` }));
const CHOICES: ElicitationField = {
  name: "many",
  type: "choices",
  required: false,
  options,
  default: ["v0"],
};
const WORD: ElicitationField = { name: "word", type: "string", required: true };

test("a long host is wrapped and never cut, so its end is in sight", () => {
  const host = `accounts.bank.example.${"x".repeat(60)}.evil.example`;
  const { rows } = prompt({ mode: "url", url: `https://${host}/`, server: "s".repeat(100) });
  expect(rows(40, 24).slice(0, 8).join("").replaceAll(/\s/g, "")).toContain(host);
});

test("never has more rows than there is room, and scrolls to the rest", () => {
  const { asked, rows } = prompt({ fields: [CHOICES] });
  for (const most of [8, 12, 20]) expect(rows(40, most).length).toBeLessThanOrEqual(most);
  expect(rows(40, 12).join("\n")).not.toContain("40 Title 39");
  for (let n = 0; n < 10; n += 1) {
    asked.key("\u001B[6~");
    rows(40, 12);
  }
  expect(rows(40, 12).join("\n")).toContain("40 Title 39");
});

test("takes numbers or titles, and sends what was left out as left out, not as its default", () => {
  const { asked, answers } = prompt({ fields: [CHOICES] });
  type(asked, "2, title 5\r");
  type(asked, "a\r");
  expect(answers).toEqual([{ action: "accept", content: { many: ["v1", "v5"] } }]);
  const other = prompt({ fields: [CHOICES] });
  type(other.asked, "-\ra\r");
  expect(other.answers).toEqual([{ action: "accept", content: { many: "" } }]);
});

test("a pasted text is one line without what a terminal obeys, and an emoji goes with one key", () => {
  const { asked, rows } = prompt({ fields: [WORD] });
  asked.paste("one\ntwo\u001B[2J\u202E👩");
  expect(asked.typed).toBe("one two[2J👩");
  asked.key("\u007F");
  expect(asked.typed).toBe("one two[2J");
  expect(rows().at(-1)).toBe("❯ one two[2J");
});

test("an answer is given once, and keys that are no word answer nothing", () => {
  const { asked, answers } = prompt({ mode: "url", url: "https://a.example/" });
  for (const word of ["", "y", "yes", "1", "ok", "b"]) {
    type(asked, `${word}\r`);
    asked.key("\u0015");
  }
  expect(answers).toEqual([]);
  type(asked, "d\r");
  type(asked, "a\r");
  asked.escape();
  expect(answers).toEqual([{ action: "decline" }]);
});

test("a title and an option cannot imitate the dialog: every line of the server is behind a bar or a number", () => {
  const { rows } = prompt({
    message: "Fine\n? other asks for input\n❯ yes",
    fields: [{ ...WORD, title: "Name\n❯ done", description: "a\nb" }],
  });
  expect(rows()).toEqual([
    "? people asks for input",
    "  │ Fine",
    "  │ ? other asks for input",
    "  │ ❯ yes",
    String.raw`  Name\n❯ done (text)`,
    "  │ a",
    "  │ b",
    "  it needs a value · Esc declines",
    "❯ ",
  ]);
});

test("the rest of a long line is behind a bar too", () => {
  const { rows } = prompt({
    message: `${"x ".repeat(20)}❯ a + Enter sends ${"y ".repeat(20)}`,
    fields: [WORD],
  });
  const shown = rows(30, 20);
  const said = shown.slice(1, shown.indexOf("  word (text)"));
  expect(said.length).toBeGreaterThan(2);
  expect(said.filter((row) => !row.startsWith("  │ "))).toEqual([]);
});
