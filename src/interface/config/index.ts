/** Configuration: paths, settings in layers, a project's own settings and instructions, and the user's trust decisions. */

export { changeConfigFile, changeMcpFile, readConfigFile } from "./config-file.ts";
export {
  CONFIG_NAMES,
  type ConfigName,
  type ConfigValues,
  isConfigName,
  keyOf,
  unknownSetting,
} from "./config-keys.ts";
export { configSchema } from "./config-schema.ts";
export { type Instructions, readInstructions, type ReadInstructions } from "./instructions.ts";
export { expandVariables } from "./expand-variables.ts";
export { jsonProblem } from "./json-problem.ts";
export { fileClosure, type FileSet, type NamedFile } from "./file-closure.ts";
export { type LoadedConfig, loadConfig, ownSetting, valueFromText } from "./load-config.ts";
export {
  dataFolder,
  ledgerFolder,
  serverTokensFolder,
  sessionsFolder,
  trustFile,
  userConfigFile,
} from "./paths.ts";
export { type McpSource, type NamedServer, readMcpFile, readServers } from "./mcp-file.ts";
export { isIgnored, type ProjectPart, trustSubject } from "./project-part.ts";
export { asError, projectConfigFile, projectMcpFile, type ProjectProblem } from "./project.ts";
export type { ProviderConfig } from "./provider-kinds.ts";
export { type ProxyConfig, ROUTE_NAME } from "./proxy-kinds.ts";
export { readHead } from "./read-plain-file.ts";
export { MAX_SKILL_BYTES, type SkillFile, userSkills } from "./skill-files.ts";
export { recordTrust } from "./trust.ts";
export { namesIn } from "./value-kinds.ts";
