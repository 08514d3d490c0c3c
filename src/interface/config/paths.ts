/** The paths of the program's files, in the XDG folders. THROUGHLINE_HOME moves all of them. */

import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

export type Environment = Readonly<Record<string, string | undefined>>;

/** The folder of the program's data: sessions, trust decisions. */
export function dataFolder(env: Environment = process.env): string {
  return below(env, env["XDG_DATA_HOME"], join(".local", "share"));
}

/** The folder of the sessions, one JSONL file each. */
export function sessionsFolder(env: Environment = process.env): string {
  return join(dataFolder(env), "sessions");
}

/** The user's settings. */
export function userConfigFile(env: Environment = process.env): string {
  return join(below(env, env["XDG_CONFIG_HOME"], ".config"), "config.json");
}

/** The user's trust decisions about projects. */
export function trustFile(env: Environment = process.env): string {
  return join(dataFolder(env), "trust.json");
}

function below(env: Environment, xdg: string | undefined, usual: string): string {
  const home = env["THROUGHLINE_HOME"];
  if (home !== undefined && home !== "") return home;
  // A relative XDG path is invalid and ignored, as its specification says.
  const base = xdg !== undefined && isAbsolute(xdg) ? xdg : join(homedir(), usual);
  return join(base, "throughline");
}
