/**
 * Bundles the library: one file per way in (`throughline`, `throughline/check` …) and the parts they share. Two hundred
 * small modules cost more to find and load than to run (docs/performance.md). Not minified, and each part says which file
 * it came from: that is what a stack trace leads to. What two ways in have in common is one
 * chunk, so that an error or a session is the same thing to both of them. The server's router goes in too, so that
 * whoever serves nothing installs nothing for it (docs/adr/0010).
 */
import { build } from "esbuild";

import { versionOnly } from "./version-only.mjs";

const ENTRIES = [
  "index",
  "diagnostics/check/index",
  "access/client/index",
  "emulator/index",
  "interface/fragments/index",
  "access/server/index",
];

/** @param {string} outdir @param {readonly string[]} dependencies packages that stay outside: users install them */
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
