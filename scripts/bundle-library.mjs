/**
 * Bundles the library: one file per entry (`throughline`, `throughline/check` …) and the chunks they share. Two hundred
 * small modules take longer to find and load than to run (docs/performance.md). The code is not minified, and comments
 * name each source file, so that stack traces are readable. Code that two entries use is in one shared chunk: an error or a
 * session has the same class in both. The server's router and yaml are bundled, so that programs without a server do not install
 * the router (docs/adr/0010), and programs that bundle the library can run yaml.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

import { build } from "esbuild";

import { versionOnly } from "./version-only.mjs";

const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));

/** The modules that package.json exports, relative to `src` and without extension. */
export const ENTRIES = Object.values(manifest.exports)
  .filter((path) => path.endsWith(".js"))
  .map((path) => path.slice("./dist/".length, -".js".length));

/**
 * yaml's package gives Node a CommonJS build, which loads Node's modules with `require`. Programs that bundle this library
 * as ES modules cannot run that, so the library holds yaml's ES module build.
 */
const YAML = join(
  dirname(createRequire(import.meta.url).resolve("yaml/package.json")),
  "browser",
  "index.js",
);

/**
 * esbuild cuts the code that a lazily loaded file shares with the entries into files of its own, and each file more costs
 * a program that never loads it about a millisecond at its start. A lazily loaded file that reaches all that
 * entries share cuts nothing, so these also export what two other entries do.
 */
const reachesAll = {
  name: "reaches-all",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]src[\\/]runtime[\\/]mcp[\\/](?:loaded|open-client)\.ts$/ }, ({ path }) => ({
      contents: `${readFileSync(path, "utf8")}\nexport * from "../../inspect.ts";\nexport * from "../../proxy/relay/index.ts";\n`,
      loader: "ts",
    }));
  },
};

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
    external: [...dependencies, ...Object.keys(manifest.peerDependencies)],
    alias: { yaml: YAML },
    metafile: true,
    plugins: [versionOnly, reachesAll],
    logLevel: "warning",
    chunkNames: "shared/[name]-[hash]",
  });
  return metafile;
}
