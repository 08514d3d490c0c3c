/**
 * Builds the node process once per run. Two texts of the product's statements are replaced on the way: the waits between
 * takeovers shrink with the lease, and the control loses the guard of the append. A text that is not found fails the
 * build, so that neither can silently stop to mean something.
 */

import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { build, type Plugin } from "esbuild";

const ROOT = resolve(import.meta.dirname, "../..");

interface Replacement {
  readonly from: string;
  readonly to: string;
}

/** The product waits 10 s and 60 s with a lease of 15 s; the run has 0.8 s. */
const SHORT_WAITS: Replacement = {
  from: "interval '10 s' else interval '60 s' end",
  to: "interval '500 ms' else interval '3 s' end",
};

const END =
  "(select coalesce(max(e.seq), -1) from ${s}.events e where e.tenant = g.tenant and e.session = g.id)";

/** "Append at the end": whoever comes may write, after whatever is there. */
const NO_GUARD: readonly Replacement[] = [
  {
    from: "`s.fence = ${fence} and s.holder = ${holder} and s.next_seq = ${seq}`",
    to: "`${fence} is not null and ${holder} is not null and ${seq} is not null`",
  },
  {
    from: "select g.tenant, g.id, g.before + l.o, l.line",
    to: `select g.tenant, g.id, ${END} + row_number() over (partition by g.tenant, g.id order by l.o), l.line`,
  },
  {
    from: "select g.tenant, g.id, $4::bigint + l.o - 1, l.line",
    to: `select g.tenant, g.id, ${END} + l.o, l.line`,
  },
];

function replaceIn(file: string, replacements: readonly Replacement[]): Plugin {
  return {
    name: "replace",
    setup(builder) {
      builder.onLoad({ filter: /statements\.ts$/ }, ({ path }) => {
        if (path !== join(ROOT, file)) return undefined;
        let contents = readFileSync(path, "utf8");
        for (const { from, to } of replacements) {
          const changed = contents.replace(from, () => to);
          if (changed === contents) throw new Error(`${file} no longer contains ${from}`);
          contents = changed;
        }
        return { contents, loader: "ts" };
      });
    },
  };
}

export async function bundleChild(outfile: string, isControl: boolean): Promise<void> {
  await build({
    entryPoints: [join(ROOT, "test/chaos/node-child.ts")],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    logLevel: "warning",
    sourcemap: "linked",
    external: ["pg-native"],
    plugins: [replaceIn("src/runtime/postgres/statements.ts", [SHORT_WAITS, ...(isControl ? NO_GUARD : [])])],
    // CommonJS globals for the driver.
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
  });
}
