/**
 * The quick suite fails when a rule of the fold is broken. Each break is planted while the command line is bundled, so
 * the working tree is never touched. `find` must be in its file exactly once; otherwise the break is stale and says so.
 */

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { build } from "esbuild";
import { afterAll, expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "throughline-eval-breaks-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Break {
  readonly what: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** Scenarios of the quick suite that must all fail. */
  readonly red: readonly string[];
}

const BREAKS: readonly Break[] = [
  {
    what: "payloads cross to another model",
    file: "src/runtime/fold/guard.ts",
    find: "  if (!isHome(group.origin, settings)) {",
    replace: "  if (group.origin.dialect !== settings.target.dialect) {",
    red: ["switch-models"],
  },
  {
    what: "reasoning does not go back",
    file: "src/runtime/fold/replay-policy.ts",
    find: '  if (policy === "all") return undefined;',
    replace: '  if (policy === "all") return new Set();',
    red: ["answer", "edit-files", "five-steps", "tool-loop", "prefix-bound"],
  },
  {
    what: "ids stay when the reasoning is dropped",
    file: "src/runtime/fold/guard.ts",
    find: "    ),\n    withIds: false,\n  };",
    replace: "    ),\n    withIds: true,\n  };",
    red: ["refused-payload"],
  },
  {
    what: "a correction is forgotten with the next request",
    file: "src/runtime/fold/fold.ts",
    find: "      this.#overrides.push(event);\n",
    replace: "      this.#overrides = [];\n",
    red: ["refused-payload"],
  },
  {
    what: "calls abroad get a new id with every request",
    file: "src/runtime/fold/fold.ts",
    find: "  const { callId } = item.event;\n",
    replace:
      '  const { callId } = item.event;\n  if (item.action === "translate") return { ...item, callId: `call_${Math.random()}`.slice(0, 30) };\n',
    red: ["switch-models"],
  },
];

async function bundled({ file, find, replace }: Break, name: string): Promise<string> {
  const path = join(root, file);
  const text = readFileSync(path, "utf8");
  expect(text.split(find), `${file}: the text to replace is not there exactly once`).toHaveLength(2);
  const outdir = join(folder, name);
  await build({
    absWorkingDir: root,
    entryPoints: ["src/interface/cli/main.ts"],
    outdir,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    logLevel: "warning",
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
    plugins: [
      {
        name: "plant",
        setup(plugin) {
          plugin.onLoad({ filter: /\.ts$/ }, (args) =>
            args.path === path ? { contents: text.replace(find, () => replace), loader: "ts" } : undefined,
          );
        },
      },
    ],
  });
  return join(outdir, "main.js");
}

interface Report {
  readonly rows: readonly { readonly scenario: string; readonly ok: boolean }[];
}

async function evaluate(
  cli: string,
  names: readonly string[],
): Promise<{ readonly code: unknown; readonly report: Report }> {
  const child = spawn(
    process.execPath,
    [cli, "eval", ...names.map((name) => join(root, "evals/quick", `${name}.yaml`)), "--json"],
    {
      env: { PATH: process.env["PATH"] ?? "", HOME: folder, THROUGHLINE_HOME: folder },
      stdio: ["ignore", "pipe", "ignore"],
    },
  );
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  const code = await new Promise((done) => child.on("close", done));
  return { code, report: JSON.parse(out) as Report };
}

test.for(BREAKS)("the quick suite fails when $what", async (planted) => {
  const cli = await bundled(planted, planted.what.replaceAll(" ", "-"));
  const { code, report } = await evaluate(cli, planted.red);
  expect(code).toBe(1);
  expect(report.rows.map(({ scenario, ok }) => [scenario, ok])).toEqual(
    planted.red.map((name) => [name, false]),
  );
});
