/**
 * Bundles `throughline/server` with its router, so that library users who serve nothing install nothing for it
 * (docs/adr/0010). Only the server's own folder and the packages go in: everything else of ours stays the module it is,
 * so that a session made by `throughline` is the same to the server.
 */
import { readdirSync, rmSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

import { build } from "esbuild";

/** @param {string} outdir the folder tsc has filled @returns {Promise<{ inputs: Record<string, unknown> }>} */
export async function bundleServer(outdir) {
  for (const name of readdirSync(outdir)) if (/\.js(?:\.map)?$/.test(name)) rmSync(join(outdir, name));
  const { metafile } = await build({
    entryPoints: ["src/server/index.ts"],
    outdir,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    sourcemap: true,
    metafile: true,
    logLevel: "warning",
    plugins: [{ name: "ours-stays-outside", setup: keepOutside }],
  });
  return metafile;
}

function keepOutside({ onResolve }) {
  const server = resolve("src/server");
  onResolve({ filter: /^\.\.?\// }, ({ path, importer }) => {
    const target = resolve(dirname(importer), path);
    const ours = importer.startsWith(server) && !target.startsWith(server);
    return ours ? { path: relative(server, target).replace(/\.ts$/, ".js"), external: true } : undefined;
  });
}
