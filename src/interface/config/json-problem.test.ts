import { expect, test } from "vitest";

import { jsonProblem } from "./json-problem.ts";

test.for([
  ['{"a":1}', undefined],
  ['{\n  "a": 1,\n  oops\n}', "invalid JSON at line 3, column 3"],
  ['{"key": sk-secret}', "invalid JSON at line 1, column 9"],
  ['{"a": 1,\n', "incomplete JSON: it ends at line 1, column 9 before it is closed"],
  ['{"a": "b', "incomplete JSON: it ends at line 1, column 9 before it is closed"],
  ["", "incomplete JSON: it ends at line 1, column 1 before it is closed"],
] as const)("%j", ([text, problem]) => {
  expect(jsonProblem(text)).toBe(problem);
});
