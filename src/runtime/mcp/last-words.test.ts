import { expect, test } from "vitest";

import { lastWords } from "./last-words.ts";

test("the error is found before the frames and the version of a trace", () => {
  const node = `node:internal/modules/cjs/loader:1210
  throw err;
  ^

Error: Cannot find module '/srv/x.js'
    at Module._resolveFilename (node:internal/modules/cjs/loader:1207:15)
    at node:internal/main/run_main_module:28:49 {
  code: 'MODULE_NOT_FOUND',
  requireStack: []
}

Node.js v20.20.2
`;
  expect(lastWords(node)).toBe("Error: Cannot find module '/srv/x.js'");
});

test("the last error counts", () => {
  const python = `Traceback (most recent call last):
  File "server.py", line 1, in <module>
ModuleNotFoundError: No module named 'mcp'
`;
  expect(lastWords(python)).toBe("ModuleNotFoundError: No module named 'mcp'");
});

test("without an error, the last three lines are given", () => {
  expect(lastWords("one\ntwo\n\nthree\nfour\n}\n")).toBe("two / three / four");
  expect(lastWords("")).toBe("");
});
