/** Where things are kept: the XDG folders. THROUGHLINE_HOME moves everything at once. */

import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Sessions, trust decisions: what the program keeps. */
export function dataFolder(env: Environment = process.env): string {
  return below(env, env["XDG_DATA_HOME"], join(".local", "share"));
}

/** One JSONL file per session. */
export function sessionsFolder(env: Environment = process.env): string {
  return join(dataFolder(env), "sessions");
}

/** The settings a person chose. */
export function userConfigFile(env: Environment = process.env): string {
  return join(below(env, env["XDG_CONFIG_HOME"], ".config"), "config.json");
}

/** Which projects' settings a person trusts. */
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
