import { expect, test } from "vitest";

import type { PermissionRequest } from "../../base/events/index.ts";
import { ProgressLines } from "./show-progress.ts";
import type { Terminal } from "./terminal.ts";

const asked: PermissionRequest = {
  v: 1,
  seq: 1,
  id: "e",
  at: "2026-01-01T00:00:00.000Z",
  epoch: 1,
  type: "permission_request",
  response: "r",
  requestId: "p",
  callId: "c",
  tool: "mcp__docs__find",
  access: "execute",
  arguments: JSON.stringify({ text: `\u202E${"x".repeat(200)}` }),
  argumentsHash: "",
  mcp: { server: "docs", tool: "find\u001B[2J" },
  changed: true,
};

function shown(event: PermissionRequest, questions: boolean): string {
  let text = "";
  const stderr = { write: (more: string) => void (text += more) };
  const terminal = { stderr, dim: (line: string) => line } as unknown as Terminal;
  new ProgressLines(terminal, { questions }).show(event);
  return text;
}

test("a question about a call of an MCP server names server, tool and the complete arguments", () => {
  const text = shown(asked, true);
  expect(text).toContain(String.raw`? MCP server docs, its tool find\u{1B}[2J (mcp__docs__find): `);
  expect(text).toContain("x".repeat(200));
  expect(text).not.toContain("\u001B");
  expect(text).not.toContain("\u202E");
  expect(text).toContain("! The server changed the description or schema of this tool");
});

test("nothing is shown of a question that the caller asks itself", () => {
  expect(shown(asked, false)).toBe("");
});
