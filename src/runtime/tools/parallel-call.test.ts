import { expect, test } from "vitest";

import { expandParallelCall } from "./index.ts";

const uses = [
  { recipient_name: "functions.read_file", parameters: { path: "a" } },
  { recipient_name: "list_files", parameters: {} },
  { recipient_name: "functions.now" },
];

test.each(["parallel", "multi_tool_use.parallel"])(
  "%s is expanded in order, with unchanged inputs",
  (name) => {
    expect(expandParallelCall(name, { tool_uses: uses })).toEqual([
      { name: "read_file", input: { path: "a" } },
      { name: "list_files", input: {} },
      { name: "now", input: undefined },
    ]);
  },
);

test.each<[string, unknown]>([
  ["read_file", { tool_uses: uses }],
  ["parallel", {}],
  ["parallel", { tool_uses: [] }],
  ["parallel", { tool_uses: "x" }],
  ["parallel", { tool_uses: [uses[0], { parameters: {} }] }],
  ["parallel", { tool_uses: [uses[0], null] }],
  ["parallel", null],
])("%s with %j is not expanded, not even in part", (name, args) => {
  expect(expandParallelCall(name, args)).toBeUndefined();
});
