import { describe, expect, test, vi } from "vitest";

import { createCompletion } from "./completion.ts";
import { LineEditor } from "./line-editor.ts";
import { createStyle } from "./style.ts";

const ENTER = "\r";
const TAB = "\t";
const BACKSPACE = "\u007F";
const CONTROL_U = "\u0015";
const HOME = "\u001B[H";

const COMMANDS = ["/rename", "/resume", "/retry"].map((name) => ({ name, about: `what ${name} does` }));

class Typed {
  readonly sent: string[] = [];
  readonly editor: LineEditor;
  #changed: () => void = () => undefined;

  constructor(files: () => Promise<readonly string[]> = () => Promise.resolve([])) {
    this.editor = new LineEditor({
      style: createStyle(false),
      height: () => 24,
      onSubmit: (text) => this.sent.push(text),
      onChange: () => this.#changed(),
      complete: createCompletion(COMMANDS, files),
    });
  }

  /** Sends everything as one write, so that no list can arrive in between. */
  press(...keys: readonly string[]): void {
    for (const key of keys) this.editor.key(key);
  }

  type(text: string): void {
    for (const char of text) this.press(char);
  }

  /** The list for the current text. */
  async listed(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#changed = resolve;
    });
    expect(this.editor.completing).toBe(true);
  }
}

describe("a paste", () => {
  test.each([
    ["CR, as terminals send it", "\r"],
    ["LF", "\n"],
    ["CRLF", "\r\n"],
  ])("keeps its line breaks: %s", (_, end) => {
    const typed = new Typed();
    typed.editor.paste(["one", "two", "", "three"].join(end));
    expect(typed.editor.text).toBe("one\ntwo\n\nthree");
    typed.press(ENTER);
    expect(typed.sent).toEqual(["one\ntwo\n\nthree"]);
  });

  test("of many lines is one marker on the screen and all its lines in the message", () => {
    const typed = new Typed();
    const lines = Array.from({ length: 300 }, (_, at) => String(at + 1));
    typed.editor.paste(lines.join("\r"));
    expect(typed.editor.render(80).rows.join("\n")).toContain("[paste #1 +300 lines]");
    typed.press(ENTER);
    expect(typed.sent).toEqual([lines.join("\n")]);
  });
});

describe("a list of completions", () => {
  test("completes the text it belongs to on Enter and on Tab", async () => {
    const typed = new Typed();
    typed.type("/res");
    await typed.listed();
    typed.press(ENTER);
    expect(typed.sent).toEqual(["/resume"]);
    typed.type("/ret");
    await typed.listed();
    typed.press(TAB);
    expect(typed.editor.text).toBe("/retry");
  });

  test("does not complete text typed after it was requested: Enter sends the text as typed", async () => {
    const typed = new Typed();
    for (const rest of ["name my new title", "name /re", "name"]) {
      typed.type("/re");
      await typed.listed();
      typed.type(rest);
      typed.press(ENTER);
    }
    expect(typed.sent).toEqual(["/rename my new title", "/rename /re", "/rename"]);
  });

  test("does not complete a file name typed since, and does not swallow Enter", async () => {
    const typed = new Typed(() => Promise.resolve(["package.json"]));
    typed.type("read @pack");
    await typed.listed();
    typed.type("age.json for me");
    typed.press(ENTER);
    expect(typed.sent).toEqual(["read @package.json for me"]);
  });

  test("is not used if suggestions for the same text arrive too late to be shown", async () => {
    const asked: ((files: readonly string[]) => void)[] = [];
    const typed = new Typed(
      () =>
        new Promise((resolve) => {
          asked.push(resolve);
        }),
    );
    typed.type("read @pack");
    await vi.waitFor(() => expect(asked).toHaveLength(1));
    asked[0]?.(["package.json"]);
    await typed.listed();
    typed.type("a");
    await vi.waitFor(() => expect(asked).toHaveLength(2));
    typed.type("g");
    typed.press(BACKSPACE);
    asked[1]?.(["package.json"]);
    await vi.waitFor(() => expect(asked).toHaveLength(3)); // the late suggestions have been dropped
    typed.press(ENTER);
    expect(typed.sent).toEqual(["read @packa"]);
  });

  test("is not used if the cursor has moved", async () => {
    const typed = new Typed();
    typed.type("/re");
    await typed.listed();
    typed.press(HOME, ENTER);
    expect(typed.sent).toEqual(["/re"]);
  });

  test("closes when its text is cut", async () => {
    const typed = new Typed();
    typed.type("/re");
    await typed.listed();
    typed.press(CONTROL_U);
    expect([typed.editor.completing, typed.editor.render(40).rows.map((row) => row.trim())]).toEqual([
      false,
      ["❯"],
    ]);
  });

  test("does not complete another text on Tab; Tab requests the list for that text", async () => {
    const typed = new Typed();
    typed.type("/re");
    await typed.listed();
    typed.type("n");
    typed.press(TAB);
    expect(typed.editor.text).toBe("/ren");
    await typed.listed();
    typed.press(TAB);
    expect(typed.editor.text).toBe("/rename");
  });
});
