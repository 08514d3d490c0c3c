import fc from "fast-check";
import { expect, test } from "vitest";
import { parse } from "yaml";

import { prettyJson } from "./pretty-json.ts";

test("keeps the value, as JSON and as YAML", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const pretty = prettyJson(text, "  ");
      expect(JSON.parse(pretty)).toEqual(JSON.parse(text));
    }),
  );
});

test("keeps every token as written: large numbers, minus zero, escapes, repeated keys", () => {
  const text = String.raw`{"n":12345678901234567890,"z":-0,"s":"a\u0041\/{[,:\"","e":[],"o":{ },"n":1.50}`;
  const bare = prettyJson(text, "").replaceAll(/\n\s*/g, "").replaceAll(": ", ":");
  expect(bare).toBe(text.replace("{ }", "{}"));
});

test("a value under a key of a YAML document can be read back", () => {
  const text = JSON.stringify({ list: [{ a: "x: y # z" }, []], text: "two\nlines", long: "k".repeat(3000) });
  expect(parse(`body: ${prettyJson(text, "  ")}\n`)).toEqual({ body: JSON.parse(text) as unknown });
});
