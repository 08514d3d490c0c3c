/** The paths of the program's files, in the XDG folders. THROUGHLINE_HOME moves all of them. */

import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

import { codedError, messageOf } from "../../base/support/index.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** The folder of the program's data: sessions, trust decisions. */
export function dataFolder(env: Environment = process.env): string {
  return below(env, env["XDG_DATA_HOME"], join(".local", "share"));
}

/** The folder of the sessions, one JSONL file each. */
export function sessionsFolder(env: Environment = process.env): string {
  return join(dataFolder(env), "sessions");
}

/** The folder of what the proxy remembers. */
export function ledgerFolder(env: Environment = process.env): string {
  return join(dataFolder(env), "proxy", "ledger");
}

/** The folder of the tokens of the user's servers, one file each. */
export function serverTokensFolder(env: Environment = process.env): string {
  return join(below(env, env["XDG_STATE_HOME"], join(".local", "state")), "servers");
}

/** The user's settings. */
export function userConfigFile(env: Environment = process.env): string {
  return join(below(env, env["XDG_CONFIG_HOME"], ".config"), "config.json");
}

/** The user's trust decisions about projects. */
export function trustFile(env: Environment = process.env): string {
  return join(dataFolder(env), "trust.json");
}

/** The user's skills, which other programs read too. Undefined if there is no home folder. */
export function userSkillsFolder(env: Environment = process.env): string | undefined {
  try {
    return join(homeFolder(env), ".agents", "skills");
  } catch {
    return undefined;
  }
}

function below(env: Environment, xdg: string | undefined, usual: string): string {
  const own = env["THROUGHLINE_HOME"];
  if (own !== undefined && own !== "") {
    if (isAbsolute(own)) return own;
    throw homeInvalid("THROUGHLINE_HOME is a relative path", "set it to an absolute path, or unset it");
  }
  // A relative XDG path is invalid and ignored, as its specification says.
  const base = xdg !== undefined && isAbsolute(xdg) ? xdg : join(homeFolder(env), usual);
  return join(base, "throughline");
}

/** A relative folder would put sessions into the working directory, where the next session's tools read them. */
function homeFolder(env: Environment): string {
  const home = env === process.env ? systemHome() : (env["HOME"] ?? systemHome());
  if (isAbsolute(home)) return home;
  throw homeInvalid(home === "" ? "HOME is empty" : "HOME is a relative path");
}

function systemHome(): string {
  try {
    return homedir();
  } catch (error) {
    throw homeInvalid(`this user has no home folder (${messageOf(error)})`);
  }
}

const SET_HOME =
  "set HOME to your home folder, THROUGHLINE_HOME to an absolute path, or both XDG_CONFIG_HOME and XDG_DATA_HOME";

function homeInvalid(why: string, todo = SET_HOME): Error {
  return codedError("home_invalid", `${why}, so there is no folder for settings and sessions: ${todo}`);
}
