/** A small git repository with a package that has no dependencies, and the release script run on it. */

import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { temporaryFolder } from "../contracts/file-fixture.ts";
import { root } from "../docs/documents.ts";

const MANIFEST = {
  name: "throughline",
  version: "0.1.0",
  type: "module",
  files: ["*.js", "*.d.ts"],
  bin: { throughline: "./bin.js" },
  exports: { ".": "./index.js", "./package.json": "./package.json" },
  scripts: { build: "node build.mjs" },
};

const LOCK = {
  name: "throughline",
  version: "0.1.0",
  lockfileVersion: 3,
  requires: true,
  packages: { "": { name: "throughline", version: "0.1.0", bin: { throughline: "bin.js" } } },
};

const BIN = `#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
const { version } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8"));
const [command] = process.argv.slice(2);
if (command === "--version") console.log(version);
if (command === "-p") console.log("I am the emulator.");
if (command === "emulator" || command === "serve") {
  const server = createServer((request, response) => response.end("ok"));
  server.listen(0, "127.0.0.1", () => console.log("http://127.0.0.1:" + server.address().port));
}
`;

const FILES: Readonly<Record<string, string>> = {
  "package.json": json(MANIFEST),
  "package-lock.json": json(LOCK),
  "CHANGELOG.md":
    "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A thing.\n\n## [0.1.0] - 2026-01-01\n\n- The first.\n",
  ".gitignore": "node_modules\nbuilt.js\n",
  "build.mjs":
    'import { writeFileSync } from "node:fs";\nwriteFileSync("built.js", "export const one = 1;\\n");\n',
  "index.js": 'export { one } from "./built.js";\n',
  "index.d.ts": "export declare const one: number;\n",
  "bin.js": BIN,
  "scripts/release/consumer.ts":
    'import { one } from "throughline";\nexport const two: number = one + one;\n',
};

export interface Released {
  readonly code: number | null;
  readonly output: string;
}

export class ReleaseRepository {
  readonly folder = temporaryFolder();
  /** The script's temporary folder: empty again when it has ended. */
  readonly temporary = temporaryFolder();
  readonly #home = temporaryFolder();

  constructor(changes: Readonly<Record<string, string>> = {}) {
    for (const [name, text] of Object.entries({ ...FILES, ...changes })) this.write(name, text);
    this.git("init", "--quiet", "--initial-branch=main");
    this.git("config", "user.name", "Release Test");
    this.git("config", "user.email", "release@example.com");
    this.commit();
  }

  write(name: string, text: string): void {
    const path = join(this.folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode: 0o755 });
  }

  commit(): void {
    this.git("add", "--all");
    this.git("commit", "--quiet", "--message", "Change");
  }

  git(...args: readonly string[]): string {
    return execFileSync("git", args, {
      cwd: this.folder,
      encoding: "utf8",
      env: this.#environment(),
    }).trimEnd();
  }

  /** Everything a release may change: commits, tags, the index, files, and what is left in the temporary folder. */
  state(): unknown {
    return {
      refs: this.git("for-each-ref", "--format=%(refname) %(objectname)"),
      status: this.git("status", "--porcelain", "--ignored"),
      files: this.git("ls-files", "--stage"),
      temporary: readdirSync(this.temporary),
    };
  }

  /** `onOutput` sees all output so far. */
  release(
    args: readonly string[],
    options: {
      readonly env?: Readonly<Record<string, string>>;
      readonly onOutput?: (output: string, signal: (name: NodeJS.Signals) => void) => void;
    } = {},
  ): Promise<Released> {
    const child = spawn(process.execPath, [join(root, "scripts/release.mjs"), ...args], {
      cwd: this.folder,
      env: { ...this.#environment(), ...options.env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
        options.onOutput?.(output, (name) => void child.kill(name));
      });
    }
    return new Promise((resolve) => {
      child.once("close", (code) => resolve({ code, output }));
    });
  }

  /** Contains none of the user's or npm's settings, only the running Node, and a registry that does not answer. */
  #environment(): NodeJS.ProcessEnv {
    const inherited = Object.entries(process.env).filter(([name]) => !/^(?:npm_|git_)/i.test(name));
    return {
      ...Object.fromEntries(inherited),
      HOME: this.#home,
      TMPDIR: this.temporary,
      NODE_DISABLE_COMPILE_CACHE: "1", // npm keeps its cache in the temporary folder from Node 22 on
      GIT_CONFIG_GLOBAL: "/dev/null",
      THROUGHLINE_NODES: "",
      npm_config_cache: join(this.#home, "cache"),
      npm_config_update_notifier: "false",
      npm_config_registry: "http://127.0.0.1:9/",
    };
  }
}

export function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** The package.json of the repository with more fields. */
export function manifestWith(fields: Readonly<Record<string, unknown>>): string {
  return json({ ...MANIFEST, ...fields });
}
