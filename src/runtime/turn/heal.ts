/**
 * Healing turns a refusal into corrective events, so that the next request is accepted and every later one stays clean.
 *
 * One table says what to do about which error (providers/error-table.ts). Within a step, healing first corrects what
 * the error names, then everything opaque of this origin, and then surfaces the original error. Corrections apply only
 * to the origin that refused; another key or model is unaffected (failures.md §5, E-class recovery).
 */

import type { Dialect, ErrorInfo, EventDraft, ReplayOverride } from "../../base/events/index.ts";
import { assertNever } from "../../base/support/index.ts";
import { RESULT_IMAGES } from "../fold/index.ts";
import { classOf, remedyFor, USER_AFTER_TOOL, USER_AFTER_USER, type Violation } from "../providers/index.ts";
import { type Correction, everything, named, type Refused } from "./corrections.ts";

type Override = Pick<ReplayOverride, "type" | "what" | "action" | "target" | "cause">;

/**
 * Returns the corrections for a refusal, or undefined if none would help. `before` lists those already tried in this
 * step, in order.
 */
export function healingOf(
  refusal: Refused,
  before: readonly (readonly EventDraft[])[],
): readonly EventDraft[] | undefined {
  const rung = before.length;
  if (rung > MAX_RUNGS) return undefined;
  const { remedy } = remedyFor(refusal.error);
  if (remedy === "ask_to_go_on") return rung === 0 ? askToContinue(refusal) : undefined;
  if (remedy === "compact" || remedy === "retry" || remedy === "tell") return undefined;
  const corrections = (rung < MAX_RUNGS ? untried(named(refusal), before) : undefined) ?? everything(refusal);
  if (corrections === undefined) return undefined;
  const { error, target } = refusal;
  return [
    ...corrections.map(({ what, action }): Override => ({
      type: "replay_override",
      what,
      action,
      target,
      cause: error,
    })),
    {
      type: "notice",
      code: "healed",
      message: `${describeRefusal(refusal)}; sent again ${describe(corrections, error)}`,
    },
  ];
}

/**
 * Named corrections may be needed twice, if two items are refused one after the other. The last rung omits everything.
 */
const MAX_RUNGS = 2;

/** Drops corrections that were already tried: they will not help the second time. */
function untried(
  corrections: readonly Correction[] | undefined,
  before: readonly (readonly EventDraft[])[],
): readonly Correction[] | undefined {
  const tried = new Set(
    before.flat().flatMap((draft) => (draft.type === "replay_override" ? [keyOf(draft)] : [])),
  );
  const fresh = corrections?.filter((one) => !tried.has(keyOf(one)));
  return fresh?.length === 0 ? undefined : fresh;
}

function keyOf({ what, action }: Correction): string {
  return JSON.stringify([what, action]);
}

/** The path of a violation, as the dialect's errors would write it. */
export function pathOf({ index, part }: Violation, dialect: Dialect): string {
  if (dialect === "openai-responses") return `input[${index}]`;
  return `messages.${index}${part === undefined || dialect === "openai-chat" ? "" : `.content.${part}`}`;
}

/** This code marks a request that our own rules stopped, so it never reached the provider. */
const OWN_RULE = "rule_violation";

export function ruleError({ rule, message }: Violation, param: string): ErrorInfo {
  const known = classOf({ code: OWN_RULE, message, param });
  const errorClass = known === "OTHER" ? "PAIR" : known;
  return { code: OWN_RULE, message: `not sent, rule ${rule}: ${message}`, class: errorClass, param };
}

/** Says who stopped the request and why. */
function describeRefusal({ error, target }: Refused): string {
  const { code, message } = error;
  if (code !== OWN_RULE) return `${target.provider}/${target.model} refused the request (${message})`;
  const [, rule = "", why = message] = /^not sent, (rule \S+): (.*)$/s.exec(message) ?? [];
  return `our own check (${rule}) stopped the request to ${target.provider}/${target.model} (${why})`;
}

/** The conversation must not end with the model's own text (failures.md C08). */
function askToContinue(refusal: Refused): readonly EventDraft[] {
  return [
    { type: "user_message", by: "runtime", content: [{ type: "text", text: "Go on." }] },
    {
      type: "notice",
      code: "healed",
      message: `${describeRefusal(refusal)}; sent again with a message that asks it to continue`,
    },
  ];
}

function describe(corrections: readonly Correction[], error: ErrorInfo): string {
  const { what, action } = corrections[0] ?? { what: { kind: "all" } };
  switch (what.kind) {
    case "group":
      if (action === "translate") return `with ${counted(corrections.length, "response")} as plain text`;
      return `without the reasoning and ids of ${counted(corrections.length, "response")}`;
    case "field":
      return error.class === "ECHO"
        ? "with thinking off"
        : (FIELD_NOTES[what.field] ?? `without "${what.field}"`);
    case "call":
      return `without the call ${what.callId}${corrections.length > 1 ? ` and ${corrections.length - 1} more` : ""}`;
    case "all":
      return "without earlier reasoning";
    default:
      return assertNever(what, "correction");
  }
}

/** Explains an omitted field whose effect is not obvious. */
const FIELD_NOTES: Readonly<Record<string, string>> = {
  tool_choice: 'without "tool_choice": the model decides whether to use a tool, and which',
  [RESULT_IMAGES.field]: "with the text of each result, without its images",
  [USER_AFTER_TOOL]: "with a short assistant message between the tool's result and the user's message",
  [USER_AFTER_USER]: "with a short assistant message between two user messages",
};

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
