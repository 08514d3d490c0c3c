/**
 * Bugs in how events are read that are decoded later.
 *
 * @module
 */

export const storedEventBugs = [
  {
    what: "heads of an overtaken writer are read like any others",
    file: "src/runtime/log/line-framing.ts",
    find: " && head.epoch >= epoch) {",
    replace: ") {",
    tests: ["src/runtime/log/line-framing.test.ts"],
  },
  {
    what: "heads are not checked for their order",
    file: "src/runtime/log/line-framing.ts",
    find: " && head.seq === seq && ",
    replace: " && ",
    tests: ["src/runtime/log/line-framing.test.ts"],
  },
  {
    what: "a line that is read again is not verified",
    file: "src/runtime/log/log-pieces.ts",
    find: "if (again !== undefined && isWhole(again, at, at + end - start)) return",
    replace: "if (again !== undefined) return",
    tests: ["src/runtime/log/log-pieces.test.ts"],
  },
];
