/** Helpers that know nothing of the domain. They run in a browser too: no `node:` import here. */

export { isBase64Text } from "./base64.ts";
export { addAll } from "./add-all.ts";
export { addressProblem, publicAddress, secretsInAddress } from "./addresses.ts";
export { assertNever } from "./assert-never.ts";
export { Broadcast } from "./broadcast.ts";
export { closestTo, didYouMean } from "./closest.ts";
export { type Clock, isoMs, isoTime, systemClock } from "./clock.ts";
export { asErrorCode, ERROR_CODES, type ErrorCode } from "./error-codes.ts";
export {
  codedError,
  codeOf,
  fileErrorOf,
  isThroughlineError,
  messageOf,
  ThroughlineError,
} from "./errors.ts";
export { arrayText, objectText, textMember, withMember, withoutMember } from "./json-edit.ts";
export {
  compactMembers,
  elementSpans,
  escapeLineSeparators,
  isOneValue,
  jsonDepth,
  mapStrings,
  type Member,
  memberSpan,
  type RawJson,
  sliceArray,
  sliceMember,
  sliceObject,
  type Span,
  stringValue,
  toRawJson,
  withoutLongStrings,
} from "./json-slices.ts";
export {
  arrayOf,
  isObject,
  type JsonObject,
  numberOf,
  objectOf,
  stringOf,
  tryParseJson,
} from "./json-types.ts";
export { inert, inertFrom, inertJson, inertLine, withoutActive } from "./inert-text.ts";
export { listenProblem } from "./listen-problem.ts";
export { createIdSource, type IdSource } from "./new-id.ts";
export { onAbort, untilAborted } from "./on-abort.ts";
export {
  aChoice,
  aClock,
  aCount,
  aFlag,
  aFunction,
  aList,
  anAfter,
  anObject,
  aNumber,
  anything,
  aPort,
  aPositive,
  aRecord,
  aSeq,
  aSignal,
  aText,
  choiceOf,
  orNull,
} from "./option-checks.ts";
export { meantOption } from "./option-synonyms.ts";
export {
  checkArgument,
  checkOptions,
  nested,
  type OptionCheck,
  type OptionChecks,
  shown,
} from "./options.ts";
export { isSendableToolName, sendableToolName, toolNamePart } from "./sendable-tool-name.ts";
export { readProblem } from "./read-problem.ts";
export { hexHash, shortHash } from "./short-hash.ts";
export { shortened, wholeStart } from "./shortened.ts";
export { stayCompiled } from "./stay-compiled.ts";
export { unmistakable, unmistakableLine } from "./unmistakable.ts";
export { VERSION } from "./version.ts";
export { type Given, withDefaults } from "./with-defaults.ts";
