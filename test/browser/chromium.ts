/**
 * A real Chromium. If there is none and we are root, Debian's is installed; otherwise the tests say what to install and
 * are skipped.
 *
 * @module
 */

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PLACES = [
  process.env["THROUGHLINE_CHROMIUM"] ?? "",
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];

const PACKAGE = "chromium-headless-shell";
const INSTALL = `apt-get update && apt-get install -y --no-install-recommends ${PACKAGE}`;

/** The program, or why there is none. */
export function findChromium(): { readonly path: string } | { readonly missing: string } {
  const isRoot = process.getuid?.() === 0;
  if (isRoot) waitForInstaller();
  const path = known();
  if (path !== undefined) return { path };
  if (!isRoot) {
    return { missing: `no Chromium: install one (apt-get install ${PACKAGE}) or set THROUGHLINE_CHROMIUM` };
  }
  try {
    alone(`[ -x /usr/bin/${PACKAGE} ] || { ${INSTALL}; }`);
  } catch {
    return { missing: `no Chromium, and apt-get could not install ${PACKAGE}` };
  }
  const installed = known();
  return installed === undefined
    ? { missing: `${PACKAGE} was installed and is not found` }
    : { path: installed };
}

/**
 * One at a time: the test files run in parallel. The program is there before the libraries it needs, and a second
 * apt-get fails while the first runs.
 */
function alone(script: string): void {
  const lock = join(tmpdir(), "throughline-chromium.lock");
  execFileSync("flock", [lock, "sh", "-c", script], { stdio: "ignore", timeout: 600_000 });
}

function waitForInstaller(): void {
  try {
    alone("true");
  } catch {
    // Without flock, nothing is installed.
  }
}

function known(): string | undefined {
  return PLACES.find((place) => place !== "" && existsSync(place));
}
