/** The release script, run on small repositories: `scripts/release.mjs`. */

import { existsSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

import { expect, test } from "vitest";

import { afterTest } from "../support/clean-up.ts";
import { json, manifestWith, ReleaseRepository } from "./release-fixture.ts";

const FIELDS = {
  repository: { type: "git", url: "git+https://example.com/throughline.git" },
  homepage: "https://example.com/",
  bugs: "https://example.com/bugs",
  author: "Release Test",
};

test("a release changes three files, commits and tags them, and leaves nothing behind", async () => {
  const repository = new ReleaseRepository();
  const { code, output } = await repository.release(["0.2.0"]);
  expect([code, output]).toEqual([0, expect.stringContaining("committed and tagged v0.2.0")]);
  expect(repository.git("show", "--name-only", "--format=%s", "HEAD").split("\n")).toEqual([
    "Release 0.2.0",
    "",
    "CHANGELOG.md",
    "package-lock.json",
    "package.json",
  ]);
  expect(repository.git("rev-parse", "v0.2.0^{commit}")).toBe(repository.git("rev-parse", "main"));
  expect(repository.state()).toMatchObject({ status: "", temporary: [] });
  const text = (name: string): string => readFileSync(join(repository.folder, name), "utf8");
  expect(text("package.json")).toBe(manifestWith({ version: "0.2.0" }));
  expect(text("package-lock.json")).not.toContain("0.1.0");
  expect(text("CHANGELOG.md")).toMatch(
    /^# Changelog\n\n## \[Unreleased\]\n\n## \[0\.2\.0\] - \d{4}-\d\d-\d\d\n\n### Added\n\n- A thing\.\n/,
  );
});

test("a dry run shows the change and changes nothing", async () => {
  const repository = new ReleaseRepository();
  const before = repository.state();
  const { code, output } = await repository.release(["0.2.0", "--dry-run"]);
  expect(code).toBe(0);
  expect(output).toContain('+  "version": "0.2.0"');
  expect(output).toContain("Would tag v0.2.0.");
  expect(output).toContain(
    "Cannot publish: package.json lacks repository, homepage, bugs, author: add them before publishing.",
  );
  expect(repository.state()).toEqual(before);
});

test.for([
  [[], "give one version"],
  [["0.2.0", "0.3.0"], "give one version"],
  [["two"], '"two" is not a semantic version'],
  [["v0.2.0"], '"v0.2.0" is not a semantic version'],
  [["99999999999999999999.0.0"], "npm accepts no number above 9007199254740991 in a version"],
  [["0.2.0+build"], "npm drops build metadata: give 0.2.0 instead of 0.2.0+build"],
  [["0.1.0-beta.1"], "version 0.1.0-beta.1 is lower than the current version 0.1.0"],
  [["0.2.0", "--force"], "Unknown option '--force'"],
] as const)("wrong arguments %j are an error without a stack trace", async ([args, message]) => {
  const { code, output } = await new ReleaseRepository().release(args);
  expect([code, output]).toEqual([2, expect.stringContaining(`release: ${message}`)]);
  expect(output.trimEnd().split("\n")).toHaveLength(1);
});

test("the current version can be released once", async () => {
  const repository = new ReleaseRepository({
    "CHANGELOG.md": "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A thing.\n",
  });
  const first = await repository.release(["0.1.0"]);
  expect([first.code, first.output]).toEqual([0, expect.stringContaining("committed and tagged v0.1.0")]);
  expect(repository.git("show", "--name-only", "--format=%s", "HEAD").split("\n")).toEqual([
    "Release 0.1.0",
    "",
    "CHANGELOG.md",
  ]);
  const before = repository.state();
  const second = await repository.release(["0.1.0"]);
  expect(second).toEqual({
    code: 2,
    output: "release: version 0.1.0 is already released: the tag v0.1.0 exists\n",
  });
  expect(repository.state()).toEqual(before);
});

test("--dry-run that npm kept for itself is an error", async () => {
  const repository = new ReleaseRepository();
  const { code, output } = await repository.release(["0.2.0"], { env: { npm_config_dry_run: "true" } });
  expect([code, output]).toEqual([2, expect.stringContaining("put -- before the arguments")]);
});

test("--help explains the command", async () => {
  const { code, output } = await new ReleaseRepository().release(["--help"]);
  expect([code, output]).toEqual([0, expect.stringMatching(/^Usage: npm run release -- VERSION/)]);
});

test("every reason against a release is named at once", async () => {
  const repository = new ReleaseRepository({
    "CHANGELOG.md": "# Changelog\n\n## [Unreleased]\n\n### Added\n",
  });
  repository.git("tag", "v0.2.0");
  repository.git("switch", "--quiet", "--create", "other");
  repository.write("new.txt", "");
  const before = repository.state();
  const { code, output } = await repository.release(["0.2.0", "--publish"]);
  expect(code).toBe(1);
  expect(output.split("\n").filter((line) => line.startsWith("  - "))).toEqual([
    "  - the branch is other, not main",
    "  - the git tree is not clean:",
    "  - the tag v0.2.0 already exists",
    "  - the Unreleased section of CHANGELOG.md is empty: describe what has changed",
    "  - package.json lacks repository, homepage, bugs, author: add them before publishing",
  ]);
  expect(repository.state()).toEqual(before);
});

test.for([
  ["the build", { "build.mjs": 'throw new Error("no build");\n' }, "no build"],
  ["an entry", { "index.js": 'throw new Error("no import");\n' }, "no import"],
  [
    "the version",
    { "bin.js": '#!/usr/bin/env node\nconsole.log("9.9.9");\n' },
    'printed "9.9.9\\n", not 0.2.0',
  ],
  ["a type", { "index.d.ts": "export declare const one: string;\n" }, "TS2322"],
] as const)("a failure of %s leaves the repository as it was", async ([, files, message]) => {
  const repository = new ReleaseRepository(files);
  const before = repository.state();
  const { code, output } = await repository.release(["0.2.0"]);
  expect([code, output]).toEqual([1, expect.stringContaining(message)]);
  expect(output).not.toContain("unexpected error");
  expect(repository.state()).toEqual(before);
});

test("Ctrl-C stops the running step and leaves the repository as it was", async () => {
  const build =
    'import { writeFileSync } from "node:fs";\nwriteFileSync(process.env.PID_FILE, String(process.pid));\n';
  const repository = new ReleaseRepository({ "build.mjs": `${build}setInterval(() => undefined, 1000);\n` });
  const before = repository.state();
  const pidFile = join(repository.folder, ".git", "build-pid");
  let isStopping = false;
  const running = repository.release(["0.2.0"], {
    env: { PID_FILE: pidFile },
    onOutput: (output, signal) => {
      if (isStopping || !output.includes("✓ version")) return;
      isStopping = true;
      void untilExists(pidFile).then(() => signal("SIGINT"));
    },
  });
  expect(await running).toEqual({ code: 130, output: expect.stringContaining("release: stopped by SIGINT") });
  expect(repository.state()).toEqual(before);
  const pid = Number(readFileSync(pidFile, "utf8"));
  await expect.poll(() => isAlive(pid)).toBe(false);
});

async function untilExists(path: string): Promise<void> {
  await expect.poll(() => existsSync(path) && readFileSync(path, "utf8") !== "").toBe(true);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** A registry that answers every upload with `status`. */
async function registry(status: number): Promise<{ env: Record<string, string>; uploads: string[] }> {
  const uploads: string[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      if (request.method === "PUT") uploads.push(body);
      response
        .writeHead(request.method === "PUT" ? status : 404, { "content-type": "application/json" })
        .end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterTest(() => void server.close());
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = { npm_config_registry: `http://${host}/`, [`npm_config_//${host}/:_authToken`]: "test" };
  return { env, uploads };
}

test("--publish uploads the tested tarball, and a prerelease gets the tag next", async () => {
  const repository = new ReleaseRepository({ "package.json": manifestWith(FIELDS) });
  const { env, uploads } = await registry(201);
  const { code, output } = await repository.release(["0.2.0-beta.1", "--publish"], { env });
  expect([code, output]).toEqual([0, expect.stringContaining("✓ published 0.2.0-beta.1")]);
  expect(uploads.map((text) => (JSON.parse(text) as { "dist-tags": unknown })["dist-tags"])).toEqual([
    { next: "0.2.0-beta.1" },
  ]);
  expect(repository.git("tag", "--list")).toBe("v0.2.0-beta.1");
});

test("--dry-run --publish uploads nothing and changes nothing", async () => {
  const repository = new ReleaseRepository({ "package.json": manifestWith(FIELDS) });
  const before = repository.state();
  const { env, uploads } = await registry(201);
  const { code, output } = await repository.release(["0.2.0", "--dry-run", "--publish"], { env });
  expect([code, output]).toEqual([0, expect.stringContaining("Would tag v0.2.0.")]);
  expect(uploads).toEqual([]);
  expect(repository.state()).toEqual(before);
});

test("a refused upload takes the commit and the tag back", async () => {
  const repository = new ReleaseRepository({ "package.json": manifestWith(FIELDS) });
  const before = repository.state();
  const { env } = await registry(403);
  const { code, output } = await repository.release(["0.2.0", "--publish"], { env });
  expect([code, output]).toEqual([1, expect.stringContaining("the commit and the tag were removed again")]);
  expect(repository.state()).toEqual(before);
});

test("a broken package.json is an error without a stack trace", async () => {
  const repository = new ReleaseRepository({ "package.json": json({}).slice(0, -2) });
  const { code, output } = await repository.release(["0.2.0"]);
  expect([code, output]).toEqual([
    1,
    expect.stringMatching(/^release: package\.json cannot be read: [^\n]+\n$/),
  ]);
});
