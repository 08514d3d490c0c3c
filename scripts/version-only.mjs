/** An esbuild plugin: a bundle gets the version from our package.json and nothing else from it. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";

const manifest = resolve(import.meta.dirname, "../package.json");

export const versionOnly = {
  name: "version-only",
  setup(build) {
    build.onLoad({ filter: /[\\/]package\.json$/ }, ({ path }) => {
      if (path !== manifest) return undefined;
      const { version } = JSON.parse(readFileSync(path, "utf8"));
      return { contents: JSON.stringify({ version }), loader: "json", watchFiles: [path] };
    });
  },
};
