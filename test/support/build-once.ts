/**
 * Vitest's global set-up: builds once per test run the programs that the tests start as processes, as shipped. No child
 * loads TypeScript, because that takes longer than most of them run.
 */

import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { build } from "esbuild";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  export interface ProvidedContext {
    /**
     * Holds `package` (the command line and the library, laid out as published), `chunks.json` and `children/*.mjs`.
     */
    readonly bundle: string;
  }
}

/** The source files of a chunk of the bundle. */
export type ChunkInputs = Readonly<Record<string, readonly string[]>>;

interface Metafile {
  readonly outputs: Readonly<Record<string, { readonly inputs: Readonly<Record<string, unknown>> }>>;
}

/** Test programs that run in their own processes. */
const CHILDREN = {
  "append-child": "test/exhaustive/append-child.ts",
  "follow-child": "test/contracts/follow-child.ts",
  "hold-lock": "test/contracts/hold-lock.ts",
  "killed-child": "test/exhaustive/killed-child.ts",
  "mcp-child": "test/mcp/mcp-child.ts",
  "mcp-login-child": "test/mcp/support/mcp-login-child.ts",
  "proxy-child": "test/proxy/support/proxy-child.ts",
  "session-child": "test/crash/session-child.ts",
  "sub-agent-child": "test/crash/sub-agent-child.ts",
} as const;

export type ChildName = keyof typeof CHILDREN;

const root = resolve(import.meta.dirname, "../..");

const folder = mkdtempSync(join(tmpdir(), "throughline-bundle-"));

export async function setup(project: TestProject): Promise<void> {
  chmodSync(folder, 0o755); // some tests run the command as another user
  await Promise.all([bundleCommand(), bundlePackage(), bundleChildren()]);
  project.provide("bundle", folder);
}

async function bundleCommand(): Promise<void> {
  const { bundleCli } = (await script("bundle-cli.mjs")) as {
    readonly bundleCli: (outdir: string) => Promise<Metafile>;
  };
  const { outputs } = await bundleCli(join(folder, "package", "dist", "cli"));
  const chunks = Object.entries(outputs).map(([file, { inputs }]) => [resolve(file), Object.keys(inputs)]);
  writeFileSync(join(folder, "chunks.json"), JSON.stringify(Object.fromEntries(chunks)));
}

/** Bundles the package with its dependencies next to it, as npm would install them. */
async function bundlePackage(): Promise<void> {
  const { bundleLibrary } = (await script("bundle-library.mjs")) as {
    readonly bundleLibrary: (outdir: string, dependencies: readonly string[]) => Promise<unknown>;
  };
  const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  const names = Object.keys(dependencies);
  await bundleLibrary(join(folder, "package", "dist"), names);
  for (const name of ["package.json", "evals", ...names.map((one) => join("node_modules", one))])
    cpSync(join(root, name), join(folder, "package", name), { recursive: true, dereference: true });
}

async function bundleChildren(): Promise<void> {
  await build({
    entryPoints: Object.entries(CHILDREN).map(([out, file]) => ({ in: join(root, file), out })),
    outdir: join(folder, "children"),
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    logLevel: "warning",
    // CommonJS globals that the emulator needs, in case the corpus includes it.
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
  });
}

function script(name: string): Promise<unknown> {
  return import(pathToFileURL(join(root, "scripts", name)).href);
}

export function teardown(): void {
  rmSync(folder, { recursive: true, force: true });
}
