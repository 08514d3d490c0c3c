/**
 * Healing: a refusal → corrective events, so that the next request is accepted and every later one stays clean.
 *
 * The ladder inside one step: first what the error names, then everything opaque of this origin, then the original error
 * is surfaced. Scoped to the origin that refused; another key or model is unaffected (failures.md §5, E-class recovery).
 *
 * @module
 */

import type { ErrorInfo, EventDraft, Origin, OverrideAction, OverrideScope } from "../events/index.ts";
import { namedInError, type RenderedRequest } from "../providers/index.ts";
import { assertNever } from "../support/index.ts";

export interface Refusal {
  readonly error: ErrorInfo;
  readonly rendered: RenderedRequest;
  readonly target: Origin;
}

type Correction = { readonly what: OverrideScope; readonly action: OverrideAction };

/** The corrections for a refusal, or undefined when none would help. `rung` counts what was tried in this step. */
export function healingOf(refusal: Refusal, rung: number): readonly EventDraft[] | undefined {
  if (rung > MAX_RUNGS) return undefined;
  const corrections = rung < MAX_RUNGS ? (named(refusal) ?? everything(refusal)) : everything(refusal);
  if (corrections === undefined || corrections.length === 0) return undefined;
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

function named(refusal: Refusal): readonly Correction[] | undefined {
  const { error } = refusal;
  switch (error.class) {
    case "PAIR":
    case "GONE":
    case "CRYPT":
      return groups(refusal, "omit_reasoning");
    case "ID":
      return groups(refusal, "omit_ids");
    case "TOOLPAIR":
      return calls(refusal);
    case "SCHEMA":
    case "CAP":
      return fields(refusal);
    case "PREFIX":
    case "THINK":
    case "ECHO":
      return everything(refusal);
    case "LIMIT":
    case "RATE":
    case "PREFILL":
    case "FATAL":
    case "TRUNC":
    case "OTHER":
    case undefined:
      return [];
    default:
      return assertNever(error.class, "error class");
  }
}

function groups({ error, rendered }: Refusal, action: OverrideAction): readonly Correction[] | undefined {
  const { itemIds, index } = namedInError(error);
  const responses = new Set<string>();
  for (const source of rendered.sources) {
    if (source.response !== undefined && source.itemId !== undefined && itemIds.includes(source.itemId)) {
      responses.add(source.response);
    }
  }
  const byIndex = index === undefined ? undefined : rendered.sources[index]?.response;
  if (byIndex !== undefined) responses.add(byIndex);
  if (responses.size === 0) return undefined;
  return [...responses].map((response) => ({ what: { kind: "group", response }, action }));
}

function calls({ error, rendered }: Refusal): readonly Correction[] | undefined {
  const { callId } = namedInError(error);
  if (callId === undefined || !rendered.sources.some((source) => source.callId === callId)) return undefined;
  return [{ what: { kind: "call", callId }, action: "close_call" }];
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
]);

function fields(refusal: Refusal): readonly Correction[] | undefined {
  const { error, rendered } = refusal;
  const { field, index } = namedInError(error);
  if (/Encrypted content is not supported/.test(error.message)) {
    return [{ what: { kind: "field", field: "include" }, action: "strip_field" }];
  }
  if (index !== undefined) {
    const source = rendered.sources[index];
    if (source === undefined || source.response === undefined) return undefined;
    const essential =
      field === undefined ||
      ESSENTIAL.has(field) ||
      field === "summary" ||
      (field === "content" && source.itemType !== "reasoning");
    if (essential) return [{ what: { kind: "group", response: source.response }, action: "omit_reasoning" }];
    return [{ what: { kind: "field", itemType: source.itemType, field }, action: "strip_field" }];
  }
  if (field === undefined || ESSENTIAL.has(field)) return undefined;
  return [{ what: { kind: "field", field }, action: "strip_field" }];
}

const HISTORY_CLASSES: ReadonlySet<string> = new Set([
  "PAIR",
  "GONE",
  "CRYPT",
  "ID",
  "TOOLPAIR",
  "SCHEMA",
  "CAP",
  "PREFIX",
  "THINK",
  "ECHO",
]);

/** All opaque payloads and ids of this origin; pointless when the request carried none or something else is to blame. */
function everything({ error, rendered }: Refusal): readonly Correction[] | undefined {
  if (!HISTORY_CLASSES.has(error.class ?? "")) return undefined;
  const { field, index } = namedInError(error);
  if (field !== undefined && index === undefined) return undefined; // a parameter such as `tools`: no thought is lost for it
  const carries = rendered.entries.some(
    (entry) =>
      entry.kind === "group" &&
      (entry.withIds ||
        entry.items.some((item) => item.event.type === "reasoning" && item.action === "replay")),
  );
  return carries ? [{ what: { kind: "all" }, action: "omit_reasoning" }] : undefined;
}

function describe(corrections: readonly Correction[]): string {
  const what = corrections[0]?.what ?? { kind: "all" };
  switch (what.kind) {
    case "group":
      return `without the reasoning and ids of ${corrections.length} response${corrections.length === 1 ? "" : "s"}`;
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
