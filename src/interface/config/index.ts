/**
 * Configuration: paths, settings in layers, what a project says for itself, and whom the user trusts.
 *
 * @module
 */

export { changeConfigFile, readConfigFile } from "./config-file.ts";
export {
  CONFIG_KEYS,
  CONFIG_NAMES,
  type ConfigName,
  type ConfigValues,
  EFFORT_CHOICES,
  isConfigName,
  keyOf,
  PERMISSION_CHOICES,
  type PriceConfig,
  type ProfileConfig,
  type ProviderConfig,
} from "./config-keys.ts";
export { configSchema } from "./config-schema.ts";
export { jsonProblem } from "./json-problem.ts";
export {
  type LoadedConfig,
  loadConfig,
  type ProjectState,
  type Setting,
  valueFromText,
} from "./load-config.ts";
export { dataFolder, type Environment, sessionsFolder, trustFile, userConfigFile } from "./paths.ts";
export { projectConfigFile, type ProjectInstructions, readProjectInstructions } from "./project.ts";
export { recordTrust, type TrustDecision } from "./trust.ts";
