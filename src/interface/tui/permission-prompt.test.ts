import { expect, test } from "vitest";

import type { PermissionRequest } from "../../base/events/index.ts";
import { type Answer, argumentRows, PermissionPrompt } from "./permission-prompt.ts";
import { createStyle } from "./style.ts";

const request: PermissionRequest = {
  v: 1,
  seq: 1,
  id: "e",
  at: "2026-01-01T00:00:00.000Z",
  epoch: 1,
  type: "permission_request",
  response: "r",
  requestId: "p",
  callId: "c",
  tool: "run_command",
  access: "execute",
  arguments: '{"command":"ls"}',
  argumentsHash: "",
};
const style = createStyle(false);

function prompt(text = request.arguments): {
  readonly asked: PermissionPrompt;
  readonly answers: Answer[];
  readonly texts: string[];
} {
  const answers: Answer[] = [];
  const texts: string[] = [];
  const asked = new PermissionPrompt({
    request: { ...request, arguments: text },
    onAnswer: (answer) => answers.push(answer),
    onText: (typed) => texts.push(typed),
  });
  asked.render(60, 10, style);
  return { asked, answers, texts };
}

test.for([
  ["", "deny"],
  ["n", "deny"],
  ["NO", "deny"],
  ["y", "allow"],
  ["Yes", "allow"],
] as const)("%j and Enter is %s", ([typed, answer]) => {
  const { asked, answers } = prompt();
  for (const char of typed) asked.key(char);
  asked.key("\r");
  expect(answers).toEqual([answer]);
});

test("a answers for the session if the request has a rule, which is shown before it can be allowed", () => {
  const answers: string[] = [];
  const texts: string[] = [];
  const asked = new PermissionPrompt({
    request: { ...request, rule: "run_command:git status" },
    onAnswer: (answer) => answers.push(answer),
    onText: (typed) => texts.push(typed),
  });
  const { rows } = asked.render(80, 20, style);
  expect(rows.join("\n")).toContain("→ a allows for this session: run_command:git status");
  expect(rows.join("\n")).toContain("a + Enter for this session");
  for (const key of ["a", "\r"]) asked.key(key);
  expect([answers, texts]).toEqual([["session"], []]);
});

test("a is a message if the request has no rule", () => {
  const { asked, answers, texts } = prompt();
  for (const key of ["a", "\r"]) asked.key(key);
  expect([answers, texts]).toEqual([[], ["a"]]);
});

test("a rule without a pattern says that it covers any arguments", () => {
  const asked = new PermissionPrompt({
    request: { ...request, rule: "deploy" },
    onAnswer: () => undefined,
    onText: () => undefined,
  });
  expect(asked.render(80, 20, style).rows.join("\n")).toContain("deploy (any arguments)");
});

test("any other text is a message, not an answer", () => {
  const { asked, answers, texts } = prompt();
  for (const char of "why, yes") asked.key(char);
  asked.key("\r");
  expect([answers, texts]).toEqual([[], ["why, yes"]]);
});

test("a call cannot be allowed before all its arguments were shown", () => {
  const { asked, answers } = prompt(JSON.stringify({ command: "x\n".repeat(30) }));
  const { rows } = asked.render(60, 10, style);
  expect(rows.length).toBeLessThanOrEqual(10);
  expect(rows.at(-2)).toContain("scroll to the end first");
  asked.key("y");
  asked.key("\r");
  expect(answers).toEqual([]);
  for (let page = 0; page < 10; page += 1) {
    asked.key("\u001B[6~");
    asked.render(60, 10, style);
  }
  asked.key("y");
  asked.key("\r");
  expect(answers).toEqual(["allow"]);
});

test("arguments are exact and cannot be mistaken for one another", () => {
  expect(argumentRows('{"path":"a b","n":[1,"x"],"deep":{"k":true}}', 40)).toEqual([
    "path: a b",
    'n: [1,"x"]',
    'deep: {"k":true}',
  ]);
  expect(argumentRows(JSON.stringify({ text: "one\npath: /etc/passwd", path: "ok" }), 40)).toEqual([
    "text:",
    "│ one",
    "│ path: /etc/passwd",
    "path: ok",
  ]);
  expect(argumentRows("{}", 40)).toEqual(["(no arguments)"]);
  expect(argumentRows("{broken", 40)).toEqual(["│ {broken"]);
});

test("a call of an MCP server's tool names the server, the server's tool and a change of it, in full", () => {
  const asked = new PermissionPrompt({
    request: {
      ...request,
      tool: "mcp__docs__long",
      mcp: { server: "docs", tool: `long\u001B[2J-${"x".repeat(60)}` },
      changed: true,
    },
    onAnswer: () => undefined,
    onText: () => undefined,
  });
  const { rows } = asked.render(40, 20, style);
  const text = rows.join("\n");
  expect(rows[0]).toMatch(/^\? Allow docs\/long/);
  expect(text.replaceAll(/\s/g, "")).toContain(`MCPserverdocs,itstoollong\\u{1B}[2J-${"x".repeat(60)}`);
  expect(text.replaceAll(/\s+/g, " ")).toContain(
    "! The server changed the description or schema of this tool since you last allowed it. command: ls",
  );
});
