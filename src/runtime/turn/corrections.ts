/** The corrections for a refusal: first those its error names, last everything opaque (heal.ts has the order). */

import type { ErrorInfo, Origin, OverrideAction, OverrideScope, ToolCall } from "../../base/events/index.ts";
import { assertNever, isObject, tryParseJson } from "../../base/support/index.ts";
import { type PlannedGroup, type PlannedItem, RESULT_IMAGES, sendsReasoning } from "../fold/index.ts";
import { type ItemSource, namedInError, remedyFor, type RenderedRequest } from "../providers/index.ts";

export interface Refused {
  readonly error: ErrorInfo;
  readonly rendered: RenderedRequest;
  readonly target: Origin;
}

export type Correction = { readonly what: OverrideScope; readonly action: OverrideAction };

/** Undefined if the error does not name what its row in the table says it names. */
export function named(refusal: Refused): readonly Correction[] | undefined {
  const images = resultImages(refusal);
  if (images !== undefined) return images;
  const { names } = remedyFor(refusal.error);
  switch (names) {
    case "responses":
      return some(
        [...responsesNamed(refusal)].flatMap((response) => loosened(refusal.rendered, response) ?? []),
      );
    case "from_there":
      return fromThere(refusal);
    case "calls":
      return calls(refusal);
    case "unsigned_calls":
      return unsignedCalls(refusal);
    case "field":
      return fields(refusal);
    case "thinking":
      return [stripped(THINKING_FIELD[refusal.target.dialect])];
    case "open_loop":
      return openThoughts(refusal);
    case "nothing":
      return undefined;
    default:
      return assertNever(names, "what an error names");
  }
}

/** How APIs refuse an image in a result, or refuse that a result is a list (failures.md T16). */
const IMAGE_REFUSED =
  /image|Output of tool call should be|all content must be type|Input should be a valid string|Invalid type for 'input'/i;

/**
 * The images of results, if the error may be about them. Many servers accept no lists there, and a picture that one
 * refuses would be refused in every later request. The texts of the results stay.
 */
function resultImages({ error, rendered }: Refused): readonly Correction[] | undefined {
  if (!IMAGE_REFUSED.test(error.message)) return undefined;
  const withImages = groupsOf(rendered).flatMap(({ results }) =>
    results.filter(({ images = [] }) => images.length > 0).map(({ callId }) => callId),
  );
  if (withImages.length === 0) return undefined;
  const at = sourcesAt(rendered, namedInError(error).path);
  const meant = at.length === 0 || at.some(({ callId = "" }) => withImages.includes(callId));
  return meant ? [{ what: { kind: "field", ...RESULT_IMAGES }, action: "strip_field" }] : undefined;
}

/**
 * Removes all opaque payloads and ids of this origin. Pointless if the request had none or something else is to blame.
 */
export function everything({ error, rendered }: Refused): readonly Correction[] | undefined {
  const { field, path } = namedInError(error);
  if (remedyFor(error).names === "thinking") return undefined; // the error asks for thoughts
  if (field !== undefined && path === undefined) return undefined; // about a parameter such as `tools`: omitting thoughts cannot help
  if (error.class === "CAP" && !/reason|thinking|encrypted/i.test(error.message)) return undefined; // about a picture, for example
  const at = sourcesAt(rendered, path);
  if (at.length > 0 && at.every(({ itemType, response }) => itemType === "message" && response === undefined))
    return undefined; // about a person's own message
  const carries = groupsOf(rendered).some((entry) => entry.withIds || sendsReasoning(entry));
  return carries ? [{ what: { kind: "all" }, action: "omit_reasoning" }] : undefined;
}

/** The sources at a path: one item, or everything a message holds. */
export function sourcesAt({ sources }: RenderedRequest, path: string | undefined): readonly ItemSource[] {
  if (path === undefined) return [];
  const found = sources.filter((source) => source.path === path || source.path.startsWith(`${path}.`));
  // In chat completions a message is one source, whichever part of it is named.
  return found.length > 0 ? found : sources.filter((source) => source.path === messageOf(path));
}

function messageOf(path: string): string {
  return path.replace(/\.content\.\d+$/, "");
}

function responsesNamed({ error, rendered }: Refused): ReadonlySet<string> {
  const { itemIds, path } = namedInError(error);
  const byId = rendered.sources.filter(({ itemId }) => itemId !== undefined && itemIds.includes(itemId));
  return new Set([...byId, ...sourcesAt(rendered, path)].flatMap(({ response }) => response ?? []));
}

function onGroup(response: string, action: OverrideAction): Correction {
  return { what: { kind: "group", response }, action };
}

function stripped(field: string): Correction {
  return { what: { kind: "field", field }, action: "strip_field" };
}

function closed(callId: string): Correction {
  return { what: { kind: "call", callId }, action: "close_call" };
}

function some(corrections: readonly Correction[]): readonly Correction[] | undefined {
  return corrections.length === 0 ? undefined : corrections;
}

function groupsOf({ entries }: RenderedRequest): readonly PlannedGroup[] {
  return entries.filter((entry) => entry.kind === "group");
}

/**
 * The next smaller form of a group: without its reasoning and ids, then as plain meaning. Undefined if it already is.
 */
export function loosened({ entries }: RenderedRequest, response: string): Correction | undefined {
  const entry = entries.find((one) => one.kind === "group" && one.group.start.response === response);
  if (entry?.kind !== "group") return undefined;
  const replayed = entry.items.filter((item) => item.action === "replay");
  if (replayed.length === 0) return undefined;
  const bound = entry.withIds || replayed.some(({ event }) => event.type === "reasoning");
  return onGroup(response, bound ? "omit_reasoning" : "translate");
}

/** A thought that does not fit what precedes it fits nowhere, nor does anything made after it (failures.md C04). */
function fromThere(refusal: Refused): readonly Correction[] | undefined {
  const responses = responsesNamed(refusal);
  const thinking = groupsOf(refusal.rendered).filter(sendsReasoning);
  const first = thinking.findIndex(({ group }) => responses.has(group.start.response));
  const later = thinking.slice(first);
  // A long session is better served by one event for all; keeping a few early thoughts is not worth thousands of
  // events.
  if (first <= 0 || later.length > MAX_LISTED) return undefined;
  return later.map(({ group }) => onGroup(group.start.response, "omit_reasoning"));
}

const MAX_LISTED = 50;

/** The calls the error names, else those at the path it names, else their whole group as plain meaning. */
function calls(refusal: Refused): readonly Correction[] | undefined {
  const { error, rendered } = refusal;
  const { callIds, path } = namedInError(error);
  // A tool search returned a tool that is no longer declared.
  if (/Tool reference '.*' not found/.test(error.message))
    return pairsOf(rendered, "tool_search_tool_result");
  const sent = new Set(rendered.sources.map(({ callId }) => callId));
  const byId = callIds.filter((callId) => sent.has(callId));
  if (byId.length > 0) return byId.map(closed);
  const waits = /container_id is required/.test(error.message);
  const last = rendered.sources.findLast(({ response }) => response !== undefined)?.response;
  const ofServer = /server_tool_use|(?:srv|mcp)toolu_/.test(error.message);
  const place = ofServer && path !== undefined ? messageOf(path) : path;
  const at = waits
    ? rendered.sources.filter(({ response }) => response === last)
    : sourcesAt(rendered, place);
  const meant = waits ? withoutPartner(at) : ofServer ? at.filter(isServerBlock) : at;
  const found = [...new Set(meant.flatMap(({ callId }) => callId ?? []))];
  if (found.length > 0) return found.map(closed);
  const responses = new Set(waits || ofServer ? at.flatMap(({ response }) => response ?? []) : []);
  return asPlain(
    rendered,
    ({ group, items }) =>
      responses.has(group.start.response) ||
      items.some(({ item }) => callIds.some((callId) => item.includes(`"${callId}"`))),
  );
}

/** Sends groups that were replayed verbatim as plain meaning, which contains no block or item of the provider. */
function asPlain(
  rendered: RenderedRequest,
  which: (entry: PlannedGroup) => boolean,
): readonly Correction[] | undefined {
  const found = groupsOf(rendered).filter(
    (entry) => entry.items.some((item) => item.action === "replay") && which(entry),
  );
  return some(found.map(({ group }) => onGroup(group.start.response, "translate")));
}

/** The pairs of a server tool, selected by the type of their results. */
function pairsOf(rendered: RenderedRequest, resultType: string): readonly Correction[] | undefined {
  const results = rendered.sources.filter(({ itemType }) => itemType === resultType);
  const ids = [...new Set(results.flatMap(({ callId }) => callId ?? []))];
  if (ids.length > 0) return ids.map(closed);
  return asPlain(rendered, ({ items }) => items.some(({ event }) => event.itemType === resultType));
}

/** A tool that the provider runs: its calls and results are blocks of one answer, whatever their type. */
function isServerBlock({ response, callId, itemType }: ItemSource): boolean {
  return response !== undefined && callId !== undefined && itemType !== "tool_use";
}

/** Server calls without a result (anthropics/anthropic-sdk-typescript#1114). */
function withoutPartner(sources: readonly ItemSource[]): readonly ItemSource[] {
  const blocks = sources.filter(isServerBlock);
  return blocks.filter(({ callId }) => blocks.filter((other) => other.callId === callId).length === 1);
}

function isSent(item: PlannedItem): boolean {
  return item.action !== "omit";
}

/** The groups of the open tool loop. The provider checks only these that strictly. */
function openLoop({ rendered }: Refused): readonly PlannedGroup[] {
  const { entries } = rendered;
  const since = entries.findLastIndex((entry) => entry.kind !== "group") + 1;
  return entries
    .slice(since)
    .filter((entry) => entry.kind === "group")
    .filter(({ items }) => items.some(isSent));
}

/**
 * The thoughts of the open loop or, if none is open, of the answer the error names: the latest one is checked too
 * (failures.md C01).
 */
function openThoughts(refusal: Refused): readonly Correction[] | undefined {
  const loop = openLoop(refusal).map(({ group }) => group.start.response);
  const responses = loop.length > 0 ? loop : [...responsesNamed(refusal)];
  return some(responses.map((response) => onGroup(response, "omit_reasoning")));
}

/** The first call of a step must carry its maker's signature; a step without one cannot be sent (failures.md G01). */
function unsignedCalls(refusal: Refused): readonly Correction[] | undefined {
  const inLoop = openLoop(refusal).flatMap(unsignedOf);
  return some((inLoop.length > 0 ? inLoop : groupsOf(refusal.rendered).flatMap(unsignedOf)).map(closed));
}

function unsignedOf({ items }: PlannedGroup): readonly string[] {
  const sent = items.filter((item) => isSent(item) && item.event.type === "tool_call");
  const [first] = sent;
  if (first === undefined || (first.action === "replay" && SIGNED.test(first.item))) return [];
  return sent.map(({ callId, event }) => callId ?? (event as ToolCall).callId);
}

/** Either in its own field or inside the call's id (BerriAI/litellm#16895). */
const SIGNED = /thought_?signature|__thought__/i;

/** The field that requests thinking in each dialect. It is omitted, or switched off where omitting it is not enough. */
const THINKING_FIELD: Readonly<Record<Origin["dialect"], string>> = {
  "openai-responses": "reasoning",
  "openai-chat": "thinking.type.enabled",
  "anthropic-messages": "thinking",
};

/** Fields that an item or a request cannot do without, so stripping them cannot help. */
const ESSENTIAL: ReadonlySet<string> = new Set([
  "model",
  "input",
  "type",
  "role",
  "call_id",
  "output",
  "name",
  "arguments",
  "instructions",
  "tools",
  "text",
  "messages",
  "thinking",
  "signature",
  "data",
  "id",
  "content",
  "max_tokens",
  "tool_use_id",
]);

/** Fields that identify a call. A call refused for one of these cannot be sent in any form. */
const OF_A_CALL: ReadonlySet<string> = new Set([
  "name",
  "namespace",
  "id",
  "call_id",
  "tool_call_id",
  "tool_use_id",
]);

function fields({ error, rendered }: Refused): readonly Correction[] | undefined {
  const { field, path, call } = namedInError(error);
  if (/Encrypted content is not supported/.test(error.message)) return [stripped("include")];
  const [, unknown] = /Input tag '([^']+)' found using 'type'/.exec(error.message) ?? [];
  if (unknown !== undefined && sourcesAt(rendered, path).some(({ itemType }) => itemType === unknown))
    return asPlain(rendered, ({ items }) => items.some(({ event }) => event.itemType === unknown));
  if (/arguments.* must be in JSON format/.test(error.message)) return brokenCalls(rendered);
  if (path !== undefined) return fieldOfItem(rendered, sourcesAt(rendered, path), { field, call });
  if (/non-empty|non-whitespace/.test(error.message)) return blank(rendered);
  if (field === undefined || (ESSENTIAL.has(field) && field !== "thinking")) return undefined;
  if (/^tools[.[]/.test(field) || /Missing required|Field required/.test(error.message)) return undefined;
  return [stripped(field)];
}

function fieldOfItem(
  rendered: RenderedRequest,
  found: readonly ItemSource[],
  { field, call }: { readonly field: string | undefined; readonly call: number | undefined },
): readonly Correction[] | undefined {
  // A chat message holds several parts. The error means the call with that number, or the part the field is made of.
  const source =
    (call === undefined ? undefined : found.filter(({ callId }) => callId !== undefined)[call]) ??
    found.find(({ itemType }) => itemType === field) ??
    found[0];
  if (source === undefined) return undefined;
  const { response, itemType, callId } = source;
  const whole = callId === undefined ? undefined : [closed(callId)];
  if (response === undefined || (field !== undefined && OF_A_CALL.has(field) && whole !== undefined))
    return whole;
  const essential =
    field === undefined ||
    field === "summary" ||
    (ESSENTIAL.has(field) && !(field === "content" && itemType === "reasoning"));
  if (!essential) return [{ what: { kind: "field", itemType, field }, action: "strip_field" }];
  const looser = loosened(rendered, response);
  return looser === undefined ? whole : [looser];
}

/** Calls whose arguments are not a JSON object, when the error does not say which. */
function brokenCalls(rendered: RenderedRequest): readonly Correction[] | undefined {
  const broken = groupsOf(rendered).flatMap(({ items }) =>
    items.flatMap((item) => {
      const { event } = item;
      const isBroken = event.type === "tool_call" && !isObject(tryParseJson(event.arguments));
      return isSent(item) && isBroken ? [item.callId ?? event.callId] : [];
    }),
  );
  return some(broken.map(closed));
}

/** Answers with blank text, when the error does not say which. */
function blank(rendered: RenderedRequest): readonly Correction[] | undefined {
  const blanks = groupsOf(rendered).filter(({ items }) =>
    items.some(
      (item) => isSent(item) && item.event.type === "assistant_message" && item.event.text.trim() === "",
    ),
  );
  return some(blanks.flatMap(({ group }) => loosened(rendered, group.start.response) ?? []));
}
