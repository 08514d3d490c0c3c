import fc from "fast-check";
import { describe, expect, test } from "vitest";

import {
  escapeLineSeparators,
  jsonDepth,
  sliceArray,
  sliceMember,
  sliceObject,
  toRawJson,
  withoutLongStrings,
} from "./json-slices.ts";
import { tryParseJson } from "./json-types.ts";

const spaces = fc.constantFrom("", " ", "\n", "\t", "\r\n  ");

/**
 * V8 13.6 (Node 24) misreads any escaped one-character key as a backslash, once it has seen an object with that key in
 * the same place: JSON.parse('{"k":1,"\\\\":3}') makes the next '{"k":1,"\\u0041":3}' come out with the key "\\". The
 * reference for these tests must not be wrong itself; our own slices read each key separately and are right.
 */
const isFairKey = (key: string): boolean => key !== '"\\\\"';

/** JSON text that JSON.stringify would never write: odd spaces, escapes, big numbers, -0, repeated keys. */
const jsonText = fc.letrec<{ value: string; array: string; object: string; scalar: string; string: string }>(
  (tie) => ({
    value: fc.oneof({ maxDepth: 4, withCrossShrink: true }, tie("scalar"), tie("array"), tie("object")),
    string: fc.oneof(
      fc.string({ unit: "binary" }).map((text) => JSON.stringify(text)),
      fc.constantFrom('"\\\\"', '"\\""', '"\\\\\\""', '"\\u0041\\ud83d"', '"}]{[,:"', '"\u2028"'),
    ),
    scalar: fc.oneof(
      tie("string"),
      fc.constantFrom("null", "true", "false", "-0", "12345678901234567890", "1e400", "0.10", "-1.5E+3"),
    ),
    array: fc
      .tuple(fc.array(tie("value"), { maxLength: 4 }), spaces)
      .map(([items, space]) => `[${space}${items.join(`${space},${space}`)}${space}]`),
    object: fc
      .tuple(fc.array(fc.tuple(tie("string").filter(isFairKey), tie("value")), { maxLength: 4 }), spaces)
      .map(
        ([members, space]) =>
          `{${space}${members.map(([key, value]) => `${key}${space}:${space}${value}`).join(`${space},${space}`)}${space}}`,
      ),
  }),
);

describe("sliceObject", () => {
  test("returns every member in order, with the value's exact text", () => {
    expect(sliceObject(' { "a" : 1.0 , "b":[ 1, {"c":"]}"} ],"d":-0,"big":12345678901234567890 }')).toEqual([
      { key: "a", value: "1.0" },
      { key: "b", value: '[ 1, {"c":"]}"} ]' },
      { key: "d", value: "-0" },
      { key: "big", value: "12345678901234567890" },
    ]);
  });

  test("reads escaped keys and keeps repeated ones", () => {
    expect(sliceObject('{"\\u0061":1,"a":2}')).toEqual([
      { key: "a", value: "1" },
      { key: "a", value: "2" },
    ]);
  });

  test.each(["[]", '"{}"', "1", "null", "", "  "])("has no members for %j", (text) => {
    expect(sliceObject(text)).toEqual([]);
  });

  test("returns slices that parse to the same value when joined again", () => {
    fc.assert(
      fc.property(jsonText.object, (text) => {
        const joined = sliceObject(text).map(({ key, value }) => `${JSON.stringify(key)}:${value}`);
        expect(JSON.parse(`{${joined.join(",")}}`)).toEqual(JSON.parse(text));
      }),
    );
  });

  test("returns values that are substrings of the text and JSON by themselves", () => {
    fc.assert(
      fc.property(jsonText.object, (text) => {
        const parsed = JSON.parse(text) as Record<string, unknown>;
        for (const { key, value } of sliceObject(text)) {
          expect(text).toContain(value);
          expect(value).toBe(value.trim());
          if (sliceMember(text, key) === value) expect(JSON.parse(value)).toEqual(parsed[key]);
        }
      }),
    );
  });
});

describe("sliceArray", () => {
  test("returns the elements as they are written", () => {
    expect(sliceArray('[ 1e400,"a,b" , [ ] ,{"x":[1,2]},-0]')).toEqual([
      "1e400",
      '"a,b"',
      "[ ]",
      '{"x":[1,2]}',
      "-0",
    ]);
  });

  test.each(["{}", '"[]"', "1", "", "[]", "[ \n ]"])("has no elements for %j", (text) => {
    expect(sliceArray(text)).toEqual([]);
  });

  test("returns slices that parse to the same value when joined again", () => {
    fc.assert(
      fc.property(jsonText.array, (text) => {
        expect(JSON.parse(`[${sliceArray(text).join(",")}]`)).toEqual(JSON.parse(text));
      }),
    );
  });
});

describe("sliceMember", () => {
  test("returns the last of several members with one name, as JSON.parse does", () => {
    expect(sliceMember('{"a":1,"b":2,"a":{"x":1}}', "a")).toBe('{"x":1}');
  });

  test("does not look inside values", () => {
    expect(sliceMember('{"a":{"b":1},"c":"\\"b\\":2"}', "b")).toBeUndefined();
  });

  test("agrees with JSON.parse for every member", () => {
    fc.assert(
      fc.property(jsonText.object, (text) => {
        const parsed = JSON.parse(text) as Record<string, unknown>;
        for (const key of new Set(sliceObject(text).map((member) => member.key))) {
          expect(JSON.parse(sliceMember(text, key) ?? "")).toEqual(parsed[key]);
        }
      }),
    );
  });
});

describe("toRawJson", () => {
  test("puts JSON on one line without changing its meaning or how its numbers are written", () => {
    const text = '{\n  "a": 12345678901234567890,\r\n  "b": "x\u2028y\u2029z",\n"c":-0 }';
    expect(toRawJson(text)).toBe('{   "a": 12345678901234567890,   "b": "x\\u2028y\\u2029z", "c":-0 }');
    expect(JSON.parse(toRawJson(text))).toEqual(JSON.parse(text));
  });

  test("leaves text on one line unchanged", () => {
    expect(toRawJson('{"a":"b\\n"}')).toBe('{"a":"b\\n"}');
  });

  test("keeps the meaning of any JSON, and never has a line break", () => {
    fc.assert(
      fc.property(jsonText.value, (text) => {
        const raw = toRawJson(text);
        expect(JSON.parse(raw)).toEqual(JSON.parse(text));
        expect(/[\n\r\u2028\u2029]/.test(raw)).toBe(false);
      }),
    );
  });

  test("escapes both separators, every time they occur", () => {
    expect(escapeLineSeparators("a\u2028b\u2028c\u2029d")).toBe("a\\u2028b\\u2028c\\u2029d");
  });
});

describe("jsonDepth", () => {
  test.each([
    ["1", 0],
    ['"[[[["', 0],
    ["[]", 1],
    ['{"a":[{"b":"]]"}]}', 3],
    ["[[],[[]],[]]", 3],
  ])("of %s is %i", (text, depth) => {
    expect(jsonDepth(text)).toBe(depth);
  });

  test("does not recurse: it counts a hundred thousand levels", () => {
    const depth = 100_000;
    expect(jsonDepth("[".repeat(depth) + "]".repeat(depth))).toBe(depth);
  });
});

const long = "x".repeat(5000);
const grow = (text: string): string => text.replaceAll("a", long);
const parses = (text: string): boolean => tryParseJson(text) !== undefined;

describe("withoutLongStrings", () => {
  test("empties long strings, values and keys, and leaves everything else", () => {
    const text = `{"a":"${long}","b":["short",{"${long}":-0}],"c":12345678901234567890}`;
    expect(withoutLongStrings(text)).toBe('{"a":"","b":["short",{"":-0}],"c":12345678901234567890}');
    expect(withoutLongStrings('{"a":"short"}')).toBe('{"a":"short"}');
  });

  test("keeps strings with escapes, and those that make the JSON invalid", () => {
    for (const inner of [`\\"${long}`, `${long}\\u0041`, `${long}\t`, `${long}\\q`]) {
      expect(withoutLongStrings(`{"a":"${inner}"}`)).toBe(`{"a":"${inner}"}`);
    }
  });

  test("keeps valid text valid and invalid text invalid", () => {
    fc.assert(
      fc.property(
        jsonText.value,
        fc.nat(),
        fc.constantFrom("", '"', "\\", "}", "\u0001", "a"),
        (text, at, odd) => {
          const cut = at % (text.length + 1);
          const changed = grow(`${text.slice(0, cut)}${odd}${text.slice(cut)}`);
          expect(parses(withoutLongStrings(changed))).toBe(parses(changed));
        },
      ),
    );
  });
});
