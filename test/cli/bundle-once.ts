/**
 * Vitest's global set-up: bundles the command line once per test run, so that what is tested is what is shipped, and
 * beside it the library, which tools files of the tests import.
 */

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { build } from "esbuild";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  export interface ProvidedContext {
    /** Holds `cli/main.js`, `library.mjs` and `chunks.json`. */
    readonly bundle: string;
  }
}

/** What a chunk of the bundle was made of. */
export type ChunkInputs = Readonly<Record<string, readonly string[]>>;

interface Metafile {
  readonly outputs: Readonly<Record<string, { readonly inputs: Readonly<Record<string, unknown>> }>>;
}

const root = resolve(import.meta.dirname, "../..");

const folder = mkdtempSync(join(tmpdir(), "throughline-bundle-"));

export async function setup(project: TestProject): Promise<void> {
  chmodSync(folder, 0o755); // some tests run the command as another user
  const script = pathToFileURL(join(root, "scripts/bundle-cli.mjs")).href;
  const { bundleCli } = (await import(script)) as {
    readonly bundleCli: (outdir: string) => Promise<Metafile>;
  };
  const { outputs } = await bundleCli(join(folder, "cli"));
  const chunks = Object.entries(outputs).map(([file, { inputs }]) => [resolve(file), Object.keys(inputs)]);
  writeFileSync(join(folder, "chunks.json"), JSON.stringify(Object.fromEntries(chunks)));
  await build({
    entryPoints: [join(root, "src/index.ts")],
    outfile: join(folder, "library.mjs"),
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    logLevel: "warning",
  });
  project.provide("bundle", folder);
}

export function teardown(): void {
  rmSync(folder, { recursive: true, force: true });
}
