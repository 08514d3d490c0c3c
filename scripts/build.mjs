/**
 * Builds the package into `dist`: tsc writes the types, esbuild bundles the library and the command line, Vite builds the
 * page, and `THIRD_PARTY_NOTICES` lists the bundled packages. Bundles start faster, and library users do not install the
 * router and the argument parser. The notices are written last: their presence marks a finished build (prepare.mjs).
 */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";

import { bundleCli } from "./bundle-cli.mjs";
import { bundleLibrary, ENTRIES } from "./bundle-library.mjs";
import { pruneTypes } from "./prune-types.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
process.chdir(root);
rmSync("dist", { recursive: true, force: true });
execFileSync("node_modules/.bin/tsc", ["-p", "tsconfig.build.json"], { stdio: "inherit" });
pruneTypes("dist", ENTRIES);

execFileSync("node_modules/.bin/vite", ["build", "src/interface/web", "--logLevel", "warn"], {
  stdio: "inherit",
});

const { dependencies } = JSON.parse(readFileSync("package.json", "utf8"));
const bundles = [await bundleCli("dist/cli"), await bundleLibrary("dist", Object.keys(dependencies))];
writeFileSync("dist/THIRD_PARTY_NOTICES", notices(bundles));

/** The licences of all packages inside the bundles. */
function notices(metas) {
  // Vite does not list what it bundled, so the page's packages are named here.
  const packages = new Set(["highlight.js", "marked", "preact", "yaml"]);
  for (const input of metas.flatMap(({ inputs }) => Object.keys(inputs))) {
    const parts = input.split(sep);
    const at = parts.lastIndexOf("node_modules");
    if (at === -1) continue;
    const name = parts[at + 1].startsWith("@") ? `${parts[at + 1]}/${parts[at + 2]}` : parts[at + 1];
    packages.add(name);
  }
  const texts = [...packages]
    .toSorted((a, b) => a.localeCompare(b))
    .map((name) => {
      const folder = join("node_modules", name);
      const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
      const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
      const text =
        file !== undefined && existsSync(join(folder, file))
          ? readFileSync(join(folder, file), "utf8").trim()
          : "";
      return `${name} ${version} (${license})\n\n${text}\n`;
    });
  return `The command line and the server of Throughline contain these packages:\n\n${texts.join(`\n${"-".repeat(72)}\n\n`)}`;
}
