/** Checks versions, settings, keys and profiles without a network. Keys are checked and never shown. */

import { statSync } from "node:fs";

import { codeOf, messageOf, VERSION } from "../../../base/support/index.ts";
import { hasKey, type Provider, PROVIDERS } from "../../../runtime/models/index.ts";
import {
  type ConfigValues,
  isIgnored,
  type LoadedConfig,
  loadConfig,
  type ProjectPart,
  readInstructions,
  userConfigFile,
} from "../../config/index.ts";
import { changesText, isOrAre, placeOf, placesOf, whatItSets } from "../trust-words.ts";
import { unusable } from "../unusable-settings.ts";
import { profileNamed, userProviders } from "../user-providers.ts";
import { bad, type Finding, note, ok } from "./finding.ts";

const OLDEST_NODE = [20, 19];

export function checkVersions(): readonly Finding[] {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const [oldMajor = 0, oldMinor = 0] = OLDEST_NODE;
  const fits = major > oldMajor || (major === oldMajor && minor >= oldMinor);
  const message = `throughline ${VERSION}, Node ${process.versions.node}, ${process.platform} ${process.arch}`;
  return [fits ? ok("versions", message) : bad("versions", message, "use Node 20.19 or newer")];
}

/** Returns the settings if they can be read, and the findings about them. */
export function checkSettings(cwd: string): {
  readonly config: ConfigValues;
  readonly findings: readonly Finding[];
} {
  let loaded: LoadedConfig;
  try {
    loaded = loadConfig(cwd);
    userProviders(loaded.values);
  } catch (error) {
    const code = codeOf(error) ?? "unknown";
    const todo =
      code === "home_invalid"
        ? "correct the variable and run this again"
        : "correct it; throughline config schema prints what is allowed";
    const fix = `${todo} (${code})`;
    return { config: {}, findings: [bad("settings", messageOf(error), fix)] };
  }
  const wrong = unusable(loaded.values, ["model", "fallback"]).map(({ name, problem }) =>
    bad(
      "settings",
      `${loaded.settings.get(name)?.location ?? ""}: ${name}: ${messageOf(problem)}`,
      `correct it: throughline config set ${name} … (${problem.code})`,
    ),
  );
  const findings = [
    ...(wrong.length === 0 ? [ok("settings", settingsText(loaded))] : wrong),
    ...modeOfUserFile(),
  ];
  return { config: loaded.values, findings: [...findings, ...checkProject(loaded, cwd)] };
}

/** Problems in the project's files are only notes: others write these files, and a bad one is ignored. */
function checkProject({ project, parts, problems }: LoadedConfig, cwd: string): readonly Finding[] {
  const { problems: unread } = readInstructions(cwd, { project: true });
  const findings = [...problems, ...unread].map(({ message, code }) =>
    note("project", `${message} (${code})`, "the file is ignored: correct or remove it"),
  );
  if (project !== undefined && project.userOnly.length > 0) {
    const told = `${project.file} sets ${project.userOnly.join(", ")}, which is ignored: only your own settings can set it`;
    findings.push(note("trust", told, "remove it from the project's file"));
  }
  return [...findings, ...parts.flatMap(checkPart)];
}

function checkPart(part: ProjectPart): readonly Finding[] {
  const { file, code, named, changes, problem } = part;
  if (part.needsTrust.length === 0) return [];
  const places = [
    ...placesOf(code?.files ?? []).map((place) => `runs ${place}`),
    ...placesOf(named?.files ?? []).map((place) => `${part.type === "skills" ? "has" : "names"} ${place}`),
  ].map((place) => ok("trust", `${file} ${place}`));
  if (!isIgnored(part)) return places;
  const changed = changes.length === 0 ? "" : `. ${changesText(part)}`;
  const message = `${whatItSets(part)}, which ${isOrAre(part)} ignored because ${placeOf(part)} is not trusted${changed}`;
  const fix =
    problem === undefined
      ? "to accept it in its current state: throughline config trust"
      : `it cannot be trusted in its current state: ${problem}`;
  return [note("trust", message, fix), ...places.map((one) => ({ ...one, status: "note" as const }))];
}

function settingsText({ settings }: LoadedConfig): string {
  const own = [...settings.values()].filter(({ layer }) => layer !== "usual");
  if (own.length === 0) return "all defaults";
  return own.map(({ name, layer }) => `${name} (${layer})`).join(", ");
}

/** A user who can write this file decides where conversations go. */
function modeOfUserFile(): readonly Finding[] {
  const file = userConfigFile();
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined || process.platform === "win32" || (found.mode & 0o022) === 0) return [];
  return [bad("settings", `other users can write ${file}`, `chmod go-w ${file}`)];
}

export function checkKeys(config: ConfigValues): readonly Finding[] {
  const providers = [...Object.values(PROVIDERS), ...Object.values(userProviders(config))];
  const byVariable = new Map<string, string[]>();
  for (const { name, keyVariable } of providers) {
    if (keyVariable !== undefined)
      byVariable.set(keyVariable, [...(byVariable.get(keyVariable) ?? []), name]);
  }
  const present = [...byVariable].filter(([variable]) => (process.env[variable] ?? "") !== "");
  if (present.length === 0) {
    const message = "no key is set: only the built-in emulator can be used";
    return [note("keys", message, "export OPENAI_API_KEY=…, or another key that throughline models lists")];
  }
  return present.map(([variable, names]) => {
    const who = `${variable} is set (${names.join(", ")})`;
    return /\s/.test(process.env[variable] ?? "")
      ? bad("keys", `${who} but contains white space`, `set ${variable} again, without spaces or line breaks`)
      : ok("keys", who);
  });
}

/** Returns the providers that can be used now: built-in ones whose key is set, and those in the user's settings. */
export function usableProviders(config: ConfigValues): readonly Provider[] {
  const own = userProviders(config);
  const withKey = Object.values(PROVIDERS).filter(hasKey);
  return [...withKey.filter(({ name }) => !Object.hasOwn(own, name)), ...Object.values(own)];
}

/** Lists what a profile assumes without evidence. Not wrong, but the first place to look if something fails. */
export function checkProfiles(config: ConfigValues): readonly Finding[] {
  return usableProviders(config).flatMap(({ name, profile }) => {
    const { name: called, evidence } = typeof profile === "string" ? profileNamed(profile, config) : profile;
    const assumed = Object.keys(evidence).filter((field) => evidence[field]?.startsWith("assumed") === true);
    if (assumed.length === 0) return [];
    const message = `${name}: the profile ${called} assumes ${assumed.join(", ")}`;
    return [note("profiles", message, "throughline conform BASE_URL shows how a Responses server behaves")];
  });
}
