/**
 * What other libraries and earlier versions call an option. A name that is only mistyped is found by its letters; these
 * share no letters with ours.
 */

/** From a name in lower case without `-` and `_` to ours. With several, the first that the function knows counts. */
const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  abort: ["signal"],
  abortcontroller: ["signal"],
  abortsignal: ["signal"],
  approval: ["permissions"],
  canask: ["interactive"],
  canusetool: ["permissions"],
  contextwindow: ["contextTokens", "limits.contextTokens", "capabilities"],
  controller: ["signal"],
  defaultheaders: ["headers"],
  dir: ["cwd", "store"],
  directory: ["cwd", "store"],
  endpoint: ["baseUrl"],
  execute: ["run"],
  folder: ["cwd", "store"],
  foreign: ["otherModels"],
  fn: ["run"],
  func: ["run"],
  handler: ["run"],
  hosted: ["providerTools"],
  hostedtools: ["providerTools"],
  inputschema: ["input"],
  instructions: ["system"],
  keepevents: ["bufferEvents"],
  key: ["apiKey", "token"],
  maxbudgetusd: ["limits.maxCostUsd", "maxCostUsd"],
  maxcompletiontokens: ["maxOutputTokens"],
  maxcost: ["limits.maxCostUsd", "maxCostUsd"],
  maxcostusd: ["limits.maxCostUsd"],
  maxiterations: ["limits.maxSteps", "maxSteps"],
  maxrepeats: ["limits.maxRepeats"],
  maxretries: ["limits.maxRetries"],
  maxsteps: ["limits.maxSteps"],
  maxtokens: ["maxOutputTokens"],
  maxturns: ["limits.maxSteps", "maxSteps"],
  messages: ["input"],
  metadata: ["parameters"],
  modelname: ["model"],
  needsapproval: ["access"],
  onwire: ["trace"],
  parameters: ["input"],
  path: ["cwd", "store"],
  permissionmode: ["permissions"],
  prompt: ["system"],
  reasoning: ["effort", "replay"],
  reasoningeffort: ["effort"],
  recursionlimit: ["limits.maxSteps", "maxSteps"],
  responseformat: ["output"],
  schema: ["output", "input"],
  seed: ["parameters"],
  sessionid: ["id"],
  since: ["after"],
  stopwhen: ["limits.maxSteps"],
  systemprompt: ["system"],
  temperature: ["parameters"],
  thinking: ["effort"],
  timeout: ["timeoutMs", "limits.turnTimeoutMs", "turnTimeoutMs"],
  timeoutms: ["limits.turnTimeoutMs", "turnTimeoutMs"],
  toolchoice: ["parameters"],
  topk: ["parameters"],
  topp: ["parameters"],
  uri: ["baseUrl"],
  url: ["baseUrl"],
  workingdirectory: ["cwd"],
};

/** Returns the known option that a name of another library means. A path counts if its first part is known. */
export function meantOption(name: string, known: readonly string[]): string | undefined {
  const plain = name.toLowerCase().replace(/[-_]/g, "");
  const ours = Object.hasOwn(SYNONYMS, plain) ? SYNONYMS[plain] : undefined;
  return ours?.find((one) => known.includes(one.split(".")[0] ?? one));
}
