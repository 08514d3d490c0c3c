import { describe, expect, test } from "vitest";

import { parseServer } from "./server-config.ts";

test("entries of other programs are read, and unknown fields are warnings", () => {
  expect(
    parseServer("files", { command: "npx", args: ["-y", "x"], env: { A: "b" }, autoApprove: [] }),
  ).toEqual({
    server: { command: "npx", args: ["-y", "x"], env: { A: "b" } },
    warnings: ['the field "autoApprove" is not known and is ignored'],
  });
  expect(
    parseServer("docs", { type: "streamable-http", url: "https://example.com/mcp", disabled: true }),
  ).toEqual({
    server: { type: "streamable-http", url: "https://example.com/mcp", enabled: false },
    warnings: [],
  });
});

test("a mistyped field is suggested", () => {
  expect(parseServer("a", { command: "x", arg: ["y"] }).warnings[0]).toContain('did you mean "args"?');
});

describe("an entry that cannot be used says what to change", () => {
  test.each([
    [null, "use an object"],
    [[], "use an object"],
    ["npx x", "use an object"],
    [{}, "command or url is missing"],
    [{ comand: "a" }, '"comand" is not known; did you mean "command"?'],
    [{ type: "http", uri: "https://a.example" }, '"uri" is not known; did you mean "url"?'],
    [{ type: "http" }, "url is missing"],
    [{ type: "stdio", url: "https://a.example" }, "command is missing"],
    [{ command: "a", url: "https://a.example" }, "not both"],
    [{ type: "sse", url: "https://a.example/sse" }, "/mcp"],
    [{ type: "grpc", url: "https://a.example" }, 'use "type"'],
    [{ command: 5 }, "command: use a text"],
    [{ command: "a", args: "b" }, "args: use an array"],
    [{ command: "a", env: { A: 1 } }, "env: use an object of texts"],
    [{ command: "a", timeoutMs: -1 }, "timeoutMs: use milliseconds"],
    [{ url: "https://a.example", oauth: { client: "x" } }, "oauth: use clientId"],
    [{ url: "https://a.example", oauth: "x" }, "oauth: use an object of texts"],
    [{ url: "nowhere" }, "url: use an address"],
    [{ url: "http://example.com/mcp" }, "use https"],
    [{ url: "https://me:secret@example.com" }, "use a header"],
    [{ url: "file:///etc/passwd" }, "use an https address"],
  ])("%j", (value, words) => {
    const { server, problem } = parseServer("a", value);
    expect(server).toBeUndefined();
    expect(problem).toContain(words);
  });

  test.each(["", " ", "a\u001B[2J", "x".repeat(65), "a\nb", "a:b"])("a name such as %j", (name) => {
    expect(parseServer(name, { command: "a" }).problem).toContain("name");
  });
});

test("http is accepted on this machine only", () => {
  for (const url of ["http://localhost:1/mcp", "http://127.0.0.1/mcp", "http://[::1]:8080/mcp"])
    expect(parseServer("a", { url }).problem).toBeUndefined();
  expect(parseServer("a", { url: "http://127.0.0.1.example.com/mcp" }).problem).toContain("use https");
});
