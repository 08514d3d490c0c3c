/**
 * The token of a server that outlives it, so that browsers stay logged in after a restart. Each address and each folder
 * of sessions has its own: a token never opens a server that other people can reach, or one with other sessions. The
 * file belongs to this user alone. One that does not is neither used nor changed.
 */

import { createHash, randomBytes } from "node:crypto";
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

import { replaceFile, writeProblem } from "../../base/files/index.ts";
import {
  codedError,
  codeOf,
  isThroughlineError,
  messageOf,
  readProblem,
  type ThroughlineError,
} from "../../base/support/index.ts";
import { serverTokensFolder, sessionsFolder } from "../config/index.ts";

/** What a token must be kept apart by. */
export interface ServerPlace {
  readonly host: string;
  readonly port: number;
  readonly publicUrl: string | undefined;
}

export interface KeptToken {
  readonly token: string;
  /** Called when the server listens, so that no other server of this address can be about to write the file. */
  keep(): void;
  /** Why the token holds for this run only. */
  readonly problem?: ThroughlineError | undefined;
}

const TOKEN = /^[\w-]{43}$/;
const MAX_BYTES = 1024;

/** The token of the last start, or a new one. A port that is chosen at random has no browsers that come back. */
export function keptToken(place: ServerPlace, renew: boolean): KeptToken {
  const fresh = randomBytes(32).toString("base64url");
  const once = { token: fresh, keep: () => undefined };
  if (place.port === 0) return once;
  try {
    const file = tokenFile(place);
    const known = renew ? undefined : readToken(file);
    return known === undefined ? { token: fresh, keep: () => write(file, fresh) } : { ...once, token: known };
  } catch (error) {
    if (!isThroughlineError(error)) throw error;
    if (renew) throw error;
    return { ...once, problem: error };
  }
}

/** The token of a server that has been started. */
export function tokenOfServer(place: ServerPlace): string {
  const token = readToken(tokenFile(place));
  if (token !== undefined) return token;
  throw codedError(
    "token_file_missing",
    "no server of yours has run at this address with these sessions: start one with throughline serve, or repeat its --host, --port, --public-url and --store here",
  );
}

function tokenFile({ host, port, publicUrl }: ServerPlace): string {
  const apart = JSON.stringify([resolve(sessionsFolder()), host, port, publicUrl ?? ""]);
  const mark = createHash("sha256").update(apart).digest("hex").slice(0, 16);
  return join(serverTokensFolder(), `${host.replaceAll(/[^\w.-]/g, "_")}-${port}-${mark}.token`);
}

/** Undefined if there is none. */
function readToken(path: string): string | undefined {
  assertOwnFolder(dirname(path), path);
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw unusable(path, codeOf(error) === "ELOOP" ? "is a link" : `cannot be read: ${readProblem(error)}`);
  }
  try {
    const found = fstatSync(file);
    if (!found.isFile()) throw unusable(path, "is not a file");
    const uid = process.getuid?.();
    if (uid !== undefined && found.uid !== uid) throw unusable(path, "belongs to another user");
    if (found.nlink > 1) throw unusable(path, "has a second name");
    if (uid !== undefined && (found.mode & 0o077) !== 0)
      throw unusable(path, "can be read or written by others, who may know the token");
    const text = found.size > MAX_BYTES ? "" : readFileSync(file, "utf8").trim();
    if (!TOKEN.test(text)) throw unusable(path, text === "" ? "is empty or too large" : "is damaged");
    return text;
  } catch (error) {
    throw isThroughlineError(error) ? error : unusable(path, `cannot be read: ${readProblem(error)}`);
  } finally {
    closeSync(file);
  }
}

/** Whoever may write to the folder could put another file in place of the token. */
function assertOwnFolder(folder: string, path: string): void {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  const uid = process.getuid?.();
  if (found === undefined || uid === undefined) return;
  if (!found.isDirectory()) throw unusable(path, "is in a folder that is a link or a file");
  if (found.uid !== uid) throw unusable(path, "is in a folder of another user");
  if ((found.mode & 0o022) !== 0) throw unusable(path, "is in a folder that others may write to");
}

function write(path: string, token: string): void {
  try {
    rmSync(path, { force: true }); // the new file must not get the permissions of the old one
    replaceFile(path, `${token}\n`, { makeFolder: true });
  } catch (error) {
    throw codedError(
      "token_file_unwritable",
      `the server's token cannot be kept in ${path}: ${writeProblem(error, path)}`,
      error,
    );
  }
}

function unusable(path: string, why: string): ThroughlineError {
  return codedError(
    "token_file_unusable",
    `the file of the server's token, ${path}, ${why}. Replace it with throughline serve --new-token, or move it away`,
  );
}

/** What a person reads whose server goes on all the same. */
export function notKept(error: unknown): string {
  const code = codeOf(error) ?? "file_failed";
  return `${messageOf(error)}. This run has a token of its own: after the next start, browsers must open a new link [${code}]`;
}
