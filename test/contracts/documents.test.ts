import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { describe, expect, test } from "vitest";

import { CANONICAL_TYPES } from "../../src/base/events/index.ts";
import { FORMATS } from "../../src/diagnostics/check/index.ts";
import { CUT_OFF, NEVER_STARTED, OUTCOME_UNKNOWN, RUNNING_IN_PARENT } from "../../src/runtime/fold/index.ts";
import { scanLines } from "../../src/runtime/log/line-framing.ts";
import { HOSTED_RULES } from "../../src/runtime/providers/index.ts";
import { CHAT_RULES, MESSAGES_RULES, RESPONSES_RULES } from "../../src/runtime/rules/index.ts";
import { temporaryFolder } from "./file-fixture.ts";

const root = resolve(import.meta.dirname, "../..");
/** The formatter pads tables, so runs of spaces count as one. */
const read = (path: string): string => readFileSync(join(root, path), "utf8").replaceAll(/ {2,}(?=\|)/g, " ");

/** The fenced blocks of one language. */
const blocks = (text: string, language: string): readonly string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, "gms"))].map(([, body = ""]) => body);

/** Rows of tables whose first cell is a code word: word → the whole row. */
const rowsByWord = (text: string): ReadonlyMap<string, string> =>
  new Map([...text.matchAll(/^\| `([^`]+)` \|.*$/gm)].map(([row, word = ""]) => [word, row]));

describe("docs/log-format.md", () => {
  const text = read("docs/log-format.md");

  test("has an entry for every event type and no others", () => {
    const [, events = ""] = /^## Events$(.*?)^### /ms.exec(text) ?? [];
    const types = [...events.matchAll(/^- \*\*`(\w+)`\*\*: /gm)].map(([, type]) => type);
    expect(types).toEqual([...CANONICAL_TYPES]);
  });

  test("names every field of every event", () => {
    const source = read("src/base/events/canonical.ts");
    const fields = [...source.matchAll(/readonly (\w+)\??:/g)].map(([, field = ""]) => field);
    expect(fields.length).toBeGreaterThan(60);
    const [, parts = ""] = /export type InputPart =(.*?);\n\n/s.exec(source) ?? [];
    const ofParts = new Set([...parts.matchAll(/readonly (\w+)\??:/g)].map(([, field]) => field));
    const known = new Set([...ofParts, "raw", "unknownType"]); // an unknown event is only a shape in memory
    const missing = fields.filter((field) => !known.has(field) && !new RegExp(`\`${field}\\??\``).test(text));
    expect([...new Set(missing)]).toEqual([]);
  });

  test("has an example log that this program can read", () => {
    const [first = "", thought = ""] = blocks(text, "jsonl");
    const scanned = scanLines(Buffer.from(first), { offset: 0, firstSeq: 0, lowestEpoch: 0 });
    expect([scanned.events.map(({ type }) => type), scanned.tornBytes]).toEqual([
      ["session_start", "user_message", "title"],
      0,
    ]);
    const [event] = scanLines(Buffer.from(thought), { offset: 0, firstSeq: 5, lowestEpoch: 0 }).events;
    expect(event !== undefined && "item" in event ? event.item : "").toContain(
      '"serial":12345678901234567890}',
    );
  });

  test("has a one-liner that verifies checksums and finds a changed byte", () => {
    const [command = ""] = blocks(text, "sh");
    const [, script = ""] = /^node -e '(.*)' demo\.jsonl$/m.exec(command) ?? [];
    const path = join(temporaryFolder(), "demo.jsonl");
    const verify = (content: string): string => {
      writeFileSync(path, content);
      return execFileSync(process.execPath, ["-e", script, path], { encoding: "utf8" });
    };
    const [log = "", thought = ""] = blocks(text, "jsonl");
    expect(verify(log + thought)).toBe("0 ok\n1 ok\n2 ok\n5 ok\n");
    expect(verify(log.replace("spät", "spat"))).toBe("0 ok\n1 damaged\n2 ok\n");
  });
});

describe("docs/replay-rules.md", () => {
  const text = read("docs/replay-rules.md");
  const sections = new Map(
    [...text.matchAll(/^### ([RMQ]\d\d) (.*?)$(.*?)(?=^##)/gms)].map(([, id = "", title = "", body = ""]) => [
      id,
      { title, body },
    ]),
  );

  const rules = [...RESPONSES_RULES, ...MESSAGES_RULES, ...CHAT_RULES];

  test("has a section for every rule, in order, and no others", () => {
    expect([...sections.keys()]).toEqual(rules.map(({ id }) => id));
  });

  test("has every foreign format", () => {
    const [, table = ""] = /^## Foreign histories$(.*)/ms.exec(text) ?? [];
    expect([...rowsByWord(table).keys()]).toEqual(Object.keys(FORMATS));
  });

  test.each(rules)(
    "has the title, evidence and advice of $id as the code has them",
    ({ id, title, evidence, todo }) => {
      const section = sections.get(id);
      expect(section?.title).toBe(title);
      expect(section?.body).toContain(`- **Evidence:** ${evidence}.`);
      expect(section?.body).toContain(`- **What to do:** ${todo}`);
      expect(section?.body).toMatch(/- \*\*Refused with:\*\* \S/);
    },
  );

  test("has every reason of the plan", () => {
    const [, union = ""] = /export type Reason =(.*?);/s.exec(read("src/base/events/decision.ts")) ?? [];
    const reasons = [...union.matchAll(/"(\w+)"/g)].map(([, reason = ""]) => reason);
    expect(reasons.length).toBeGreaterThan(20);
    expect(reasons.filter((reason) => !text.includes(`\`${reason}\``))).toEqual([]);
  });

  test("has every hosted type with its decision", () => {
    const [, table = ""] = /^### Hosted types$(.*?)^### /ms.exec(text) ?? [];
    const rows = rowsByWord(table);
    expect([...rows.keys()]).toEqual(Object.keys(HOSTED_RULES));
    for (const [type, { home }] of Object.entries(HOSTED_RULES))
      expect(rows.get(type)).toContain(`| \`${type}\` | ${home} |`);
  });

  test("has the text the model reads about calls without a result", () => {
    for (const { status, text: words } of [CUT_OFF, NEVER_STARTED, OUTCOME_UNKNOWN, RUNNING_IN_PARENT])
      expect(text).toContain(`| \`${status}\` | ${words} |`);
  });
});
