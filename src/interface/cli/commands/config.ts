/** `throughline config`: shows the settings in force and where each comes from, and changes the settings files. */

import { Command } from "commander";

import { codedError, isObject, tryParseJson } from "../../../base/support/index.ts";
import {
  asError,
  changeConfigFile,
  CONFIG_NAMES,
  type ConfigName,
  type ConfigValues,
  configSchema,
  isConfigName,
  isIgnored,
  keyOf,
  loadConfig,
  projectConfigFile,
  type ProjectPart,
  trustSubject,
  unknownSetting,
  userConfigFile,
  valueFromText,
} from "../../config/index.ts";
import type { Finish } from "../command-table.ts";
import { EXIT } from "../exit-codes.ts";
import { inertLine } from "../inert-text.ts";
import { decideAll, settingsHere } from "../project-trust.ts";
import { printJson, type Terminal } from "../terminal.ts";
import { changesText, isOrAre, partLines, placeOf, whatItSets } from "../trust-words.ts";
import { unusable } from "../unusable-settings.ts";

interface FileFlags {
  readonly project?: boolean;
}

interface ListFlags {
  readonly json?: boolean;
}

const KEY = "a setting or a part of one, for example providers.mine.baseUrl";

export function configCommand(terminal: Terminal, finish: Finish): Command {
  const config = new Command("config")
    .description("Show the settings in force and where each comes from, and change them")
    .helpCommand("help [command]", "Show the help of a command")
    .addHelpText(
      "after",
      `
Examples:
  throughline config                                    list the settings in force here
  throughline config set model openai/gpt-5.6:high
  throughline config set providers.local '{"dialect":"openai-responses","baseUrl":"http://127.0.0.1:1234/v1"}'
  throughline config unset effort --project

Later layers win: defaults, user file, project file (.throughline/config.json), environment, flags.`,
    );
  const done = (work: () => void): void => {
    work();
    finish(EXIT.ok);
  };
  const write = (text: string): void => void terminal.stdout.write(`${text}\n`);
  config
    .command("list", { isDefault: true })
    .description("List the settings in force here, and where each comes from")
    .option("--json", "print one JSON object")
    .action((flags: ListFlags) => done(() => list(flags, terminal)));
  config
    .command("get")
    .description("Print one setting; exit with code 1 if it is not set")
    .argument("<key>", KEY)
    .action((key: string) => finish(get(key, write, terminal)));
  config
    .command("set")
    .description("Change a setting in the user file")
    .argument("<key>", KEY)
    .argument("<value>", "a text, a number, true or false, names separated by commas, or JSON")
    .option("--project", "change the project file instead")
    .action((key: string, value: string, flags: FileFlags) => done(() => set(key, value, flags, terminal)));
  config
    .command("unset")
    .description("Remove a setting from the user file")
    .argument("<key>", KEY)
    .option("--project", "change the project file instead")
    .action((key: string, flags: FileFlags) =>
      done(() => changeConfigFile(fileOf(flags), pathOf(key), undefined)),
    );
  config
    .command("path")
    .description("Print the path of the user file")
    .option("--project", "print the path of the project file")
    .action((flags: FileFlags) => done(() => write(fileOf(flags))));
  config
    .command("schema")
    .description("Print the JSON Schema of the settings files, for editors")
    .action(() => done(() => printJson(terminal.stdout, configSchema())));
  config
    .command("trust")
    .description("Trust the project's settings, MCP servers and skills as they are now")
    .option("--revoke", "withdraw your trust")
    .action((flags: { readonly revoke?: boolean }) => done(() => trust(flags, terminal)));
  return config;
}

function list(flags: ListFlags, terminal: Terminal): void {
  const loaded = settingsHere(terminal);
  const settings = CONFIG_NAMES.flatMap((name) => {
    const setting = loaded.settings.get(name);
    return setting === undefined ? [] : [{ ...setting, value: shownOf(name, setting.value) }];
  });
  const { project, parts, problems } = loaded;
  const ignored = parts.filter(isIgnored);
  if (flags.json === true)
    return printJson(terminal.stdout, {
      settings,
      project: project === undefined ? null : partView(project),
      parts: parts.map(partView),
      problem: problems[0] ?? null,
      problems,
      ignored: project !== undefined && ignored.includes(project) ? project.needsTrust : [],
    });
  for (const { name, value, layer, location } of settings) {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    terminal.stdout.write(
      `${name.padEnd(20)} ${inertLine(text, 200)}  (${layer === "usual" ? "default" : layer}${location === "" ? "" : `: ${inertLine(location, 300)}`})\n`,
    );
  }
  for (const part of ignored) {
    const lines = [
      `${whatItSets(part, "also ")}, which ${isOrAre(part)} ignored until you trust ${placeOf(part)}: throughline config trust`,
      ...partLines(part, { limits: false }),
      ...(part.changes.length > 0 ? [changesText(part)] : []),
      ...(part.problem === undefined
        ? []
        : [`It cannot be trusted in its current state: ${inertLine(part.problem, 400)}`]),
    ];
    terminal.stderr.write(`${lines.join("\n")}\n`);
  }
}

/** The hashes of the trusted files, without their contents. */
function partView(part: ProjectPart): object {
  const { type, file, sha256, needsTrust, userOnly, decision, changes, problem } = part;
  const { files } = trustSubject(part);
  return { type, file, sha256, needsTrust, userOnly, decision, changes, files, problem };
}

function get(key: string, write: (text: string) => void, terminal: Terminal): number {
  const [name, ...rest] = pathOf(key);
  let value: unknown = shownOf(name, settingsHere(terminal).settings.get(name)?.value);
  for (const step of rest) value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  if (value === undefined) return EXIT.turnFailed;
  write(
    typeof value === "string"
      ? inertLine(value, Number.POSITIVE_INFINITY)
      : JSON.stringify(value, undefined, 2),
  );
  return EXIT.ok;
}

function set(key: string, text: string, flags: FileFlags, terminal: Terminal): void {
  const path = pathOf(key);
  const [name, ...rest] = path;
  const file = fileOf(flags);
  if (flags.project === true && keyOf(name).userOnly === true) {
    throw codedError(
      "usage",
      `config set ${name}: a project cannot set this. Omit --project to set it for yourself`,
    );
  }
  // A part of an entry has no kind: parse it as JSON if possible, otherwise take it as text. The whole file is checked.
  const value = rest.length === 0 ? valueFromText(name, text, "config set") : (tryParseJson(text) ?? text);
  changeConfigFile(file, path, value, (values) => {
    const { problem } = unusable({ ...valuesHere(), ...values }, [name])[0] ?? {};
    if (problem !== undefined) throw problem;
  });
  terminal.stderr.write(`${inertLine(key, 200)} is set in ${inertLine(file, 300)}\n`);
}

/** The settings in force, for what a changed setting refers to. Another setting that is wrong is not its problem. */
function valuesHere(): ConfigValues {
  try {
    return loadConfig(process.cwd()).values;
  } catch {
    return {};
  }
}

function trust(flags: { readonly revoke?: boolean }, terminal: Terminal): void {
  const { parts, problems } = loadConfig(process.cwd());
  const [problem] = problems;
  if (problem !== undefined) throw asError(problem);
  if (parts.length === 0) {
    throw codedError(
      "project_config_missing",
      "this project has no .throughline/config.json, no .mcp.json and no skills: there is nothing to trust",
    );
  }
  decideAll(parts, flags.revoke === true ? "refused" : "trusted");
  for (const part of parts) {
    const file = inertLine(part.file, 300);
    const lines =
      flags.revoke === true
        ? [`${file} is no longer trusted`]
        : [
            `${file} is trusted until it changes`,
            ...partLines(part, { limits: true }),
            ...(part.changes.length > 0 ? [changesText(part)] : []),
          ];
    terminal.stderr.write(`${lines.join("\n")}\n`);
  }
}

function fileOf(flags: FileFlags): string {
  return flags.project === true ? projectConfigFile(process.cwd()) : userConfigFile();
}

function pathOf(key: string): readonly [ConfigName, ...string[]] {
  const [name = "", ...rest] = key.split(".");
  if (isConfigName(name) && !rest.includes("")) return [name, ...rest];
  throw codedError("config_key_unknown", unknownSetting(inertLine(isConfigName(name) ? key : name, 60)));
}

/** Hides a value that may hold a password, but not whether it is set. */
function shownOf(name: ConfigName, value: unknown): unknown {
  return keyOf(name).secret === true && value !== undefined ? "[hidden]" : shown(value);
}

/** Hides the values of headers and variables, which may be secrets. */
function shown(value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      (name === "headers" || name === "env") && isObject(inner)
        ? Object.fromEntries(Object.keys(inner).map((header) => [header, "[hidden]"]))
        : shown(inner),
    ]),
  );
}
