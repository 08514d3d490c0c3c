/**
 * Where things are kept: the XDG folders.
 *
 * @module
 */

import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

/** One JSONL file per session. THROUGHLINE_HOME moves everything at once. */
export function sessionsFolder(env: Environment = process.env): string {
  const home = env["THROUGHLINE_HOME"];
  if (home !== undefined && home !== "") return join(home, "sessions");
  const data = env["XDG_DATA_HOME"];
  // A relative XDG path is invalid and ignored, as its specification says.
  const base = data !== undefined && isAbsolute(data) ? data : join(homedir(), ".local", "share");
  return join(base, "throughline", "sessions");
}
