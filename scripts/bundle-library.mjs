/**
 * Bundles the library: one file per entry (`throughline`, `throughline/check` …) and the chunks they share. Two hundred
 * small modules take longer to find and load than to run (docs/performance.md). The code is not minified, and comments
 * name each source file, so that stack traces are readable. Code that two entries use is in one shared chunk: an error or a
 * session has the same class in both. The server's router is bundled, so that programs without a server do not install it
 * (docs/adr/0010).
 */
import { readFileSync } from "node:fs";

import { build } from "esbuild";

import { versionOnly } from "./version-only.mjs";

const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));

/** The modules that package.json exports, relative to `src` and without extension. */
export const ENTRIES = Object.values(manifest.exports)
  .filter((path) => path.endsWith(".js"))
  .map((path) => path.slice("./dist/".length, -".js".length));

/** @param {string} outdir @param {readonly string[]} dependencies packages that are not bundled; npm installs them */
export async function bundleLibrary(outdir, dependencies) {
  const { metafile } = await build({
    entryPoints: ENTRIES.map((name) => ({ in: `src/${name}.ts`, out: name })),
    outdir,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    external: [...dependencies],
    metafile: true,
    plugins: [versionOnly],
    logLevel: "warning",
    chunkNames: "shared/[name]-[hash]",
  });
  return metafile;
}
