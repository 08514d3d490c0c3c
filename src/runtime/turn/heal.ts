/**
 * Healing: a refusal → corrective events, so that the next request is accepted and every later one stays clean.
 *
 * What is done about which error stands in one table (providers/error-table.ts). The ladder inside one step: first what
 * the error names, then everything opaque of this origin, then the original error is surfaced. Scoped to the origin that refused; another key or model is unaffected (failures.md §5, E-class recovery).
 */

import type {
  Dialect,
  ErrorInfo,
  EventDraft,
  Origin,
  OverrideAction,
  OverrideScope,
} from "../../base/events/index.ts";
import { assertNever } from "../../base/support/index.ts";
import {
  type ItemSource,
  namedInError,
  remedyFor,
  type RenderedRequest,
  type Violation,
} from "../providers/index.ts";

export interface Refused {
  readonly error: ErrorInfo;
  readonly rendered: RenderedRequest;
  readonly target: Origin;
}

export type Correction = { readonly what: OverrideScope; readonly action: OverrideAction };

/** The corrections for a refusal, or undefined when none would help. `rung` counts what was tried in this step. */
export function healingOf(refusal: Refused, rung: number): readonly EventDraft[] | undefined {
  if (rung > MAX_RUNGS) return undefined;
  const { remedy } = remedyFor(refusal.error);
  if (remedy === "ask_to_go_on") return rung === 0 ? wordOfAUser(refusal) : undefined;
  if (remedy === "compact" || remedy === "retry" || remedy === "tell") return undefined;
  const corrections = (rung < MAX_RUNGS ? named(refusal) : undefined) ?? everything(refusal);
  if (corrections === undefined) return undefined;
  const { error, target } = refusal;
  return [
    ...corrections.map(({ what, action }): EventDraft => ({
      type: "replay_override",
      what,
      action,
      target,
      cause: error,
    })),
    {
      type: "notice",
      code: "healed",
      message: `${target.provider}/${target.model} refused the request (${error.message}); sent again ${describe(corrections)}`,
    },
  ];
}

/** Named corrections may be needed twice (two items refused one after the other); the last rung is everything. */
const MAX_RUNGS = 2;

/** Undefined: the error does not name what its row says it names. */
function named(refusal: Refused): readonly Correction[] | undefined {
  const { names } = remedyFor(refusal.error);
  switch (names) {
    case "responses":
      return responses(refusal);
    case "calls":
      return calls(refusal);
    case "field":
      return fields(refusal);
    case "open_loop":
      return openLoop(refusal);
    case "nothing":
      return undefined;
    default:
      return assertNever(names, "what an error names");
  }
}

/** Where a rule is broken, as the dialect's errors would write it. */
export function pathOf({ index, part }: Violation, dialect: Dialect): string {
  if (dialect === "openai-responses") return `input[${index}]`;
  return `messages.${index}${part === undefined || dialect === "openai-chat" ? "" : `.content.${part}`}`;
}

/** What stands at a place: one item, or all that a message holds. */
export function sourcesAt({ sources }: RenderedRequest, path: string | undefined): readonly ItemSource[] {
  if (path === undefined) return [];
  return sources.filter((source) => source.path === path || source.path.startsWith(`${path}.`));
}

function responses({ error, rendered }: Refused): readonly Correction[] | undefined {
  const { itemIds, path } = namedInError(error);
  const byId = rendered.sources.filter(({ itemId }) => itemId !== undefined && itemIds.includes(itemId));
  const found = new Set([...byId, ...sourcesAt(rendered, path)].flatMap(({ response }) => response ?? []));
  const corrections = [...found].flatMap((response) => loosened(rendered, response) ?? []);
  return corrections.length === 0 ? undefined : corrections;
}

function onGroup(response: string, action: OverrideAction): Correction {
  return { what: { kind: "group", response }, action };
}

/** The next smaller form of a group: without its reasoning and ids, then as plain meaning. Undefined when it is that already. */
export function loosened({ entries }: RenderedRequest, response: string): Correction | undefined {
  const entry = entries.find((one) => one.kind === "group" && one.group.start.response === response);
  if (entry?.kind !== "group") return undefined;
  const replayed = entry.items.filter((item) => item.action === "replay");
  if (replayed.length === 0) return undefined;
  const bound = entry.withIds || replayed.some(({ event }) => event.type === "reasoning");
  return onGroup(response, bound ? "omit_reasoning" : "translate");
}

function calls({ error, rendered }: Refused): readonly Correction[] | undefined {
  const sent = new Set(rendered.sources.map((source) => source.callId));
  const callIds = namedInError(error).callIds.filter((callId) => sent.has(callId));
  if (callIds.length === 0) return undefined;
  return callIds.map((callId) => ({ what: { kind: "call", callId }, action: "close_call" }));
}

/** Only the open tool loop is held together so tightly. */
function openLoop({ rendered }: Refused): readonly Correction[] | undefined {
  const { entries } = rendered;
  const since = entries.findLastIndex((entry) => entry.kind !== "group") + 1;
  const open = entries.slice(since).flatMap((entry) => (entry.kind === "group" ? [entry] : []));
  if (open.length === 0) return undefined;
  return open.map(({ group }) => onGroup(group.start.response, "omit_reasoning"));
}

/** The conversation must not end with the model's own words (failures.md C08). */
function wordOfAUser({ error, target }: Refused): readonly EventDraft[] {
  return [
    { type: "user_message", by: "runtime", content: [{ type: "text", text: "Go on." }] },
    {
      type: "notice",
      code: "healed",
      message: `${target.provider}/${target.model} refused the request (${error.message}); sent again with a message that asks it to go on`,
    },
  ];
}

/** Fields without which an item or a request means nothing: stripping them cannot help. */
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

function fields(refusal: Refused): readonly Correction[] | undefined {
  const { error, rendered } = refusal;
  const { field, path } = namedInError(error);
  if (/Encrypted content is not supported/.test(error.message)) {
    return [{ what: { kind: "field", field: "include" }, action: "strip_field" }];
  }
  if (path !== undefined) return fieldOfItem(rendered, sourcesAt(rendered, path), field);
  if (field === undefined || ESSENTIAL.has(field)) return undefined;
  return [{ what: { kind: "field", field }, action: "strip_field" }];
}

function fieldOfItem(
  rendered: RenderedRequest,
  found: readonly ItemSource[],
  field: string | undefined,
): readonly Correction[] | undefined {
  // A chat message holds several pieces; the one that the field is made of is meant.
  const source = found.find(({ itemType }) => itemType === field) ?? found[0];
  if (source?.response === undefined) return undefined;
  const { response, itemType } = source;
  const essential =
    field === undefined ||
    field === "summary" ||
    (ESSENTIAL.has(field) && !(field === "content" && itemType === "reasoning"));
  if (essential) return [loosened(rendered, response) ?? onGroup(response, "omit_reasoning")];
  return [{ what: { kind: "field", itemType, field }, action: "strip_field" }];
}

/** All opaque payloads and ids of this origin; pointless when the request carried none or something else is to blame. */
function everything({ error, rendered }: Refused): readonly Correction[] | undefined {
  const { field, path } = namedInError(error);
  if (field !== undefined && path === undefined) return undefined; // a parameter such as `tools`: no thought is lost for it
  const carries = rendered.entries.some(
    (entry) =>
      entry.kind === "group" &&
      (entry.withIds ||
        entry.items.some((item) => item.event.type === "reasoning" && item.action === "replay")),
  );
  return carries ? [{ what: { kind: "all" }, action: "omit_reasoning" }] : undefined;
}

function describe(corrections: readonly Correction[]): string {
  const { what, action } = corrections[0] ?? { what: { kind: "all" } };
  switch (what.kind) {
    case "group":
      if (action === "translate") return `with ${counted(corrections.length, "response")} as plain text`;
      return `without the reasoning and ids of ${counted(corrections.length, "response")}`;
    case "field":
      return `without "${what.field}"`;
    case "call":
      return `without the call ${what.callId}`;
    case "all":
      return "without earlier reasoning";
    default:
      return assertNever(what, "correction");
  }
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
