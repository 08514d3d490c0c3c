/**
 * A real Chromium. When there is none and we are root, Debian's is installed; otherwise the tests say what to install and
 * are skipped.
 *
 * @module
 */

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";

const PLACES = [
  process.env["THROUGHLINE_CHROMIUM"] ?? "",
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];

const PACKAGE = "chromium-headless-shell";

/** The program, or why there is none. */
export function findChromium(): { readonly path: string } | { readonly missing: string } {
  const path = known();
  if (path !== undefined) return { path };
  if (process.getuid?.() !== 0) {
    return { missing: `no Chromium: install one (apt-get install ${PACKAGE}) or set THROUGHLINE_CHROMIUM` };
  }
  try {
    const options = { stdio: "ignore", timeout: 240_000 } as const;
    execFileSync("apt-get", ["update"], options);
    execFileSync("apt-get", ["install", "-y", "--no-install-recommends", PACKAGE], options);
  } catch {
    return { missing: `no Chromium, and apt-get could not install ${PACKAGE}` };
  }
  const installed = known();
  return installed === undefined
    ? { missing: `${PACKAGE} was installed and is not found` }
    : { path: installed };
}

function known(): string | undefined {
  return PLACES.find((place) => place !== "" && existsSync(place));
}
