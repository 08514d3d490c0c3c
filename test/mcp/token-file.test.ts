import {
  chmodSync,
  chownSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

import { describe, expect, test } from "vitest";

import { TokenFile } from "../../src/runtime/mcp/loaded.ts";
import { failureOf, loginFixture, temporaryFolder } from "./support/login-fixture.ts";

const LOGIN = {
  server: "https://mcp.example/mcp",
  issuer: "https://auth.example",
  client: { client_id: "c", client_secret: "very-secret-value" },
  accessToken: "access-token-1",
  refreshToken: "refresh-token-1",
  scope: "read",
  savedAt: 1,
  expiresAt: 2,
};

async function savedFile(): Promise<TokenFile> {
  const tokens = new TokenFile(join(temporaryFolder(), "state", "mcp-logins.json"));
  await tokens.save(LOGIN);
  return tokens;
}

describe("the file of logins", () => {
  test("is for its user alone and keeps what was saved", async () => {
    const tokens = await savedFile();
    expect(tokens.logins()).toEqual([LOGIN]);
    expect(statSync(tokens.path).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(tokens.path)).mode & 0o777).toBe(0o700);
    expect(readdirSync(dirname(tokens.path))).toEqual(["mcp-logins.json"]);
  });

  test("has one login for each server and issuer, the newest last", async () => {
    const tokens = await savedFile();
    const moved = { ...LOGIN, issuer: "https://other.example", accessToken: "access-token-2" };
    const renewed = { ...LOGIN, accessToken: "access-token-3" };
    await tokens.save(moved);
    expect(tokens.loginAt(LOGIN.server)).toEqual(moved);
    expect(tokens.loginAt(LOGIN.server, LOGIN.issuer)).toEqual(LOGIN);
    await tokens.save(renewed);
    expect(tokens.logins()).toEqual([moved, renewed]);
    expect(tokens.loginAt("https://elsewhere.example")).toBeUndefined();
  });

  test("does not lose a login that was renewed meanwhile", async () => {
    const tokens = await savedFile();
    const renewed = { ...LOGIN, accessToken: "access-token-2" };
    await tokens.save(renewed);
    await tokens.forget(LOGIN);
    await tokens.amend(LOGIN, (one) => ({ ...one, wantedScope: "write" }));
    expect(tokens.logins()).toEqual([renewed]);
    await tokens.forget(renewed);
    expect(tokens.logins()).toEqual([]);
  });

  test("is not made by a look, nor by the removal of what is not there", async () => {
    const folder = temporaryFolder();
    const tokens = new TokenFile(join(folder, "mcp-logins.json"));
    expect(tokens.logins()).toEqual([]);
    expect(await tokens.remove("https://mcp.example/mcp")).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe("a file of logins is refused and left as it is", () => {
  const cases: readonly (readonly [string, (path: string) => void, string, string])[] = [
    ["if others can read it", (path) => chmodSync(path, 0o644), "mcp_tokens_unusable", "run: chmod 600"],
    ["if a group can write it", (path) => chmodSync(path, 0o620), "mcp_tokens_unusable", "run: chmod 600"],
    ["if it is a link", aLink, "mcp_tokens_unusable", "is a link"],
    [
      "if it has a second name",
      (path) => linkSync(path, `${path}.copy`),
      "mcp_tokens_unusable",
      "second name",
    ],
    ["if it is a folder", aFolder, "mcp_tokens_unusable", "is not a file"],
    [
      "if it is no JSON",
      (path) => writeFileSync(path, '{ "version": 1,'),
      "mcp_tokens_damaged",
      "not a JSON object",
    ],
    [
      "if it is empty",
      (path) => writeFileSync(path, ""),
      "mcp_tokens_damaged",
      "move it away and log in again",
    ],
    [
      "if a login lacks its token",
      (path) => writeFileSync(path, JSON.stringify({ version: 1, logins: [{ ...LOGIN, accessToken: 1 }] })),
      "mcp_tokens_damaged",
      "expected form",
    ],
    [
      "if a later version wrote it",
      (path) => writeFileSync(path, '{ "version": 2, "logins": [] }'),
      "mcp_tokens_damaged",
      "later version",
    ],
    [
      "if it is huge",
      (path) => writeFileSync(path, " ".repeat(4 * 1024 * 1024 + 1)),
      "mcp_tokens_damaged",
      "larger than",
    ],
  ];

  test.for(cases)("%s", async ([, arrange, code, words]) => {
    const tokens = await savedFile();
    arrange(tokens.path);
    const before = bytesOf(tokens.path);
    for (const work of [
      () => tokens.logins(),
      () => tokens.assertUsable(),
      () => tokens.save(LOGIN),
      () => tokens.remove(LOGIN.server),
    ]) {
      const failure = await failureOf(work);
      expect(failure.code).toBe(code);
      expect(failure.message).toContain(words);
      expect(failure.message).toContain(tokens.path);
      expect(failure.message).not.toMatch(/very-secret-value|access-token|refresh-token/);
    }
    expect(bytesOf(tokens.path)).toEqual(before);
  });

  test.skipIf(process.getuid?.() !== 0)("if it belongs to another user", async () => {
    const tokens = await savedFile();
    chownSync(tokens.path, 12_345, 12_345);
    expect((await failureOf(() => tokens.logins())).message).toContain("belongs to another user");
  });

  test("if it is read-only: it can be read, and nothing is saved", async () => {
    const tokens = await savedFile();
    chmodSync(tokens.path, 0o400);
    expect(tokens.logins()).toEqual([LOGIN]);
    for (const work of [() => tokens.assertUsable(), () => tokens.save({ ...LOGIN, accessToken: "2" })]) {
      const { code, message } = await failureOf(work);
      expect(code).toBe("mcp_tokens_unusable");
      expect(message).toContain("is read-only");
    }
    expect(tokens.logins()).toEqual([LOGIN]);
  });

  test("if others may write to its folder", async () => {
    const tokens = await savedFile();
    chmodSync(dirname(tokens.path), 0o777);
    const { code, message } = await failureOf(() => tokens.save(LOGIN));
    expect(code).toBe("mcp_tokens_unusable");
    expect(message).toContain("chmod go-w");
  });

  test("if its folder cannot be made", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "state"), "");
    const tokens = new TokenFile(join(folder, "state", "mcp-logins.json"));
    expect((await failureOf(() => tokens.save(LOGIN))).code).toBe("mcp_tokens_unusable");
  });
});

test.for([
  ["damaged", 0o600, "mcp_tokens_damaged"],
  ['{ "version": 1, "logins": [] }', 0o400, "mcp_tokens_unusable"],
] as const)(
  "nobody is asked to log in for a file that could not keep the login: %s",
  async ([content, mode, code]) => {
    const { login, path, at, links } = await loginFixture();
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, content, { mode });
    expect((await failureOf(login)).code).toBe(code);
    expect({ links, requests: at.requests }).toEqual({ links: [], requests: [] });
    expect(readFileSync(path, "utf8")).toBe(content);
  },
);

function aLink(path: string): void {
  renameSync(path, `${path}.real`);
  symlinkSync(`${path}.real`, path);
}

function aFolder(path: string): void {
  renameSync(path, `${path}.old`);
  mkdirSync(path);
}

function bytesOf(path: string): string | undefined {
  return statSync(path).isFile() ? readFileSync(path, "utf8") : undefined;
}
