/**
 * npm's `prepare` script: builds `dist` when it is missing or older than the sources. npm runs `prepare` for a dependency
 * on a git URL (after it has installed the development dependencies), before `npm pack` and `npm publish`, and after
 * `npm install` in a checkout. It never runs for a package from a registry or a tarball, which has a `dist`.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** The build writes this file last. */
const finished = join(root, "dist/THIRD_PARTY_NOTICES");
/** Without the lock file, which npm writes at every install. package.json names exact versions. */
const SOURCES = ["src", "scripts", "package.json", "tsconfig.json", "tsconfig.build.json"];
const TOOLS = ["typescript", "esbuild", "vite"];

if (!isStale()) process.exit(0);

const missing = TOOLS.filter((name) => !existsSync(join(root, "node_modules", name)));
if (missing.length > 0) {
  // `npm install --omit=dev` in a checkout: installing must not fail, and npm does not do this for git dependencies.
  process.stderr.write(
    `throughline: not built, because ${missing.join(", ")} is not installed. Run npm install, then npm run build.\n`,
  );
  process.exit(0);
}

try {
  execFileSync(process.execPath, [join(root, "scripts/build.mjs")], { stdio: "inherit" });
} catch {
  process.stderr.write("throughline: the build failed; its output is above\n");
  process.exitCode = 1;
}

function isStale() {
  if (!existsSync(finished)) return true;
  const built = statSync(finished).mtimeMs;
  return SOURCES.some((name) => newest(join(root, name)) > built);
}

function newest(path) {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return 0;
  if (!stats.isDirectory()) return stats.mtimeMs;
  // The folder's own time changes when a file in it is removed.
  return readdirSync(path).reduce((time, name) => Math.max(time, newest(join(path, name))), stats.mtimeMs);
}
