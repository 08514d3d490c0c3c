/**
 * Bundles the command line with esbuild: one start-up file and chunks that are loaded when a command needs them.
 * Used by the build and by the tests, so that what is tested is what is shipped.
 */
import { chmodSync, rmSync } from "node:fs";
import { join } from "node:path";

import { build } from "esbuild";

import { versionOnly } from "./version-only.mjs";

/** @param {string} outdir @returns {Promise<{ inputs: Record<string, unknown> }>} what went into the bundle */
export async function bundleCli(outdir) {
  rmSync(outdir, { recursive: true, force: true });
  const { metafile } = await build({
    entryPoints: ["src/interface/cli/main.ts"],
    outdir,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    // Half the size to install and to read at every start; nobody is shown its stack traces.
    minifyWhitespace: true,
    minifySyntax: true,
    metafile: true,
    plugins: [versionOnly],
    logLevel: "warning",
    chunkNames: "chunks/[name]-[hash]",
    // commander is CommonJS and asks for node's own modules by require.
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
  });
  chmodSync(join(outdir, "main.js"), 0o755);
  return metafile;
}
