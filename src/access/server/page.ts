/**
 * The page: static files, read once at startup. A request names an entry of that list or nothing, so no path from
 * outside ever reaches the file system.
 */

import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { extname, join, sep } from "node:path";

export interface PageFile {
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Its name contains a hash of its content. */
  readonly immutable: boolean;
}

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".ico": "image/x-icon",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".map": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".webmanifest": "application/manifest+json",
  ".woff2": "font/woff2",
};

/** Files by address, such as "/index.html". Empty if the page was not built. */
export function findPage(folder: string | undefined): ReadonlyMap<string, PageFile> {
  const files = new Map<string, PageFile>();
  for (const name of folder === undefined ? [] : listFiles(folder)) {
    const type = TYPES[extname(name)];
    if (folder === undefined || type === undefined) continue;
    const address = `/${name.split(sep).join("/")}`;
    files.set(address, {
      type,
      bytes: new Uint8Array(readFileSync(join(folder, name))),
      immutable: address.startsWith("/assets/"),
    });
  }
  return files;
}

/** Omits links, which could lead anywhere. */
function listFiles(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
      lstatSync(join(folder, name)).isFile(),
    );
  } catch {
    return [];
  }
}

export const NO_PAGE = notice(
  "The page is not built",
  "The server runs, and its API answers under /api. To build the page, run <code>npm run build</code> and start the server again.",
);

const LOGIN_HELP =
  "Open the link that <code>throughline serve</code> printed in its terminal. It works once and then gives this browser access. A used link grants no further access: for a new one, run <code>throughline serve --link</code> on the machine of the server, with the flags of the server.";

/** Starts a new navigation of our own, because the cookie is not sent along on a redirect that began elsewhere. */
const TO_THE_PAGE = '<meta http-equiv="refresh" content="0;url=/">';

export const LOGIN_NEEDED = notice("A link is needed", LOGIN_HELP);

/** For a browser that may already have access: the page can tell by its cookie. */
export const TRY_THE_PAGE = notice("A link is needed", LOGIN_HELP, TO_THE_PAGE);

export const LOGGED_IN = notice(
  "You are logged in",
  'If nothing happens, <a href="/">open the page</a>.',
  TO_THE_PAGE,
);

function notice(title: string, text: string, head = ""): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Throughline: ${title}</title>${head}</head><body><h1>${title}</h1><p>${text}</p></body></html>`;
}
