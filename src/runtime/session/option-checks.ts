/** What `createAgent`, `open` and the methods of a local session accept. */

import { HANDLE_OPTIONS, OPEN_OPTIONS } from "../../base/api/index.ts";
import { isPermissionMode, PERMISSION_MODES } from "../../base/events/index.ts";
import {
  aChoice,
  aClock,
  aCount,
  aFlag,
  aFunction,
  aList,
  anything,
  aNumber,
  aPositive,
  aText,
  choiceOf,
  isObject,
  nested,
  type OptionCheck,
  type OptionChecks,
  orNull,
} from "../../base/support/index.ts";
import { isTool, isToolSource, toolProblem } from "../tools/index.ts";
import type { TurnLimits } from "../turn/index.ts";
import type { AgentOptions, OpenSessionOptions, SendOptions } from "./types.ts";

export const aModel: OptionCheck = (value) => {
  if (typeof value === "string") return `a model: modelFrom(${JSON.stringify(value)})`;
  const fits = isObject(value) && typeof value["send"] === "function" && isObject(value["settings"]);
  return fits ? undefined : "a model: openai(…), anthropic(…), openaiChat(…), emulator() or modelFrom(…)";
};

/** For methods of a session, which accept names too. */
export const aModelOrName: OptionCheck = (value, place) =>
  typeof value === "string" ? undefined : aModel(value, place) && "a model, or the name of one";

/** The arguments of a prompt. */
export const textsByName: OptionCheck = (value) =>
  isObject(value) && !Array.isArray(value) && Object.values(value).every((one) => typeof one === "string")
    ? undefined
    : "an object of strings";

const STORE_METHODS = ["open", "create", "exists", "list", "remove", "waiting"];

export const aStore: OptionCheck = (value) => {
  if (typeof value === "string") return `a store: fileStore(${JSON.stringify(value)})`;
  const fits = isObject(value) && STORE_METHODS.every((name) => typeof value[name] === "function");
  return fits ? undefined : "a store: fileStore(…), postgresStore(…) or memoryStore()";
};

const aPolicy: OptionCheck = (value) =>
  typeof value === "function" || isPermissionMode(value)
    ? undefined
    : `a function, or ${choiceOf(PERMISSION_MODES, value)}`;

const REPLAY = ["all", "since_last_user", "none"];

const aReplay: OptionCheck = (value, place) => {
  if (isObject(value)) return nested({ maxItems: aCount(0) })(value, place);
  return typeof value === "string" && REPLAY.includes(value)
    ? undefined
    : `{ maxItems: … }, or ${choiceOf(REPLAY, value)}`;
};

const aShare: OptionCheck = (value) =>
  typeof value === "number" && value > 0 && value <= 1
    ? undefined
    : "a share of the context, above 0 and at most 1, such as 0.85";

const aTool: OptionCheck = (value) =>
  isTool(value) || isToolSource(value) ? undefined : `made with tool(…): ${toolProblem(value)}`;

const limits = {
  maxSteps: aCount(1),
  maxCostUsd: aPositive,
  maxSessionCostUsd: aPositive,
  maxRepeats: aCount(1),
  maxRetries: aCount(0),
  toolTimeoutMs: aNumber(1),
  toolGraceMs: aNumber(0),
  connectTimeoutMs: aNumber(1),
  firstByteTimeoutMs: aNumber(1),
  idleTimeoutMs: aNumber(1),
  turnTimeoutMs: aNumber(1),
  contextTokens: aNumber(1),
} satisfies OptionChecks<TurnLimits>;

export const AGENT_OPTIONS = {
  model: aModel,
  fallback: aList(aModel, "models"),
  modelFrom: aFunction,
  tools: aList(aTool, "tools"),
  repairArguments: aFunction,
  system: orNull(aText),
  permissions: aPolicy,
  allow: aList(aText, "rules"),
  interactive: aFlag,
  replay: nested({
    reasoning: aReplay,
    otherModels: aChoice("omit", "note"),
  } satisfies OptionChecks<NonNullable<AgentOptions["replay"]>>),
  limits: nested(limits),
  compaction: nested({
    automatic: aFlag,
    at: aShare,
  } satisfies OptionChecks<NonNullable<AgentOptions["compaction"]>>),
  trace: aFunction,
  fetch: aFunction,
  clock: aClock,
  cwd: orNull(aText),
  secrets: aList(aText, "strings"),
} satisfies OptionChecks<AgentOptions>;

export const OPEN_SESSION_OPTIONS = {
  ...OPEN_OPTIONS,
  store: aStore,
} satisfies OptionChecks<OpenSessionOptions>;

/** A local session takes models themselves, and a schema of any kind, which has an error code of its own. */
export const LOCAL_OPTIONS = {
  ...HANDLE_OPTIONS,
  send: {
    ...HANDLE_OPTIONS.send,
    model: aModelOrName,
    output: anything,
  } satisfies OptionChecks<SendOptions>,
  resume: { ...HANDLE_OPTIONS.resume, output: anything },
  retry: { ...HANDLE_OPTIONS.retry, output: anything },
  edit: { ...HANDLE_OPTIONS.edit, output: anything },
  preview: { model: aModelOrName },
} as const;
