/**
 * Bugs in how events are read that are decoded later.
 *
 * @module
 */

export const storedEventBugs = [
  {
    what: "heads of an overtaken writer are read like any others",
    file: "src/runtime/log/line-framing.ts",
    find: " && quiet.epoch >= epoch) {",
    replace: ") {",
    tests: ["src/runtime/log/line-framing.test.ts"],
  },
  {
    what: "heads are not checked for their order",
    file: "src/runtime/log/line-framing.ts",
    find: " && quiet.seq === seq && ",
    replace: " && ",
    tests: ["src/runtime/log/line-framing.test.ts"],
  },
  {
    what: "a line that is read again is not verified",
    file: "src/runtime/log/log-pieces.ts",
    find: "const text = again === undefined ? undefined : checkedText(again, start - from, end - from);",
    replace: "const text = again === undefined ? undefined : textOfLine(again, start - from, end - from);",
    tests: ["src/runtime/log/log-pieces.test.ts"],
  },
];
