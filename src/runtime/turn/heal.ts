/**
 * Healing: a refusal → corrective events, so that the next request is accepted and every later one stays clean.
 *
 * What is done about which error stands in one table (providers/error-table.ts). The ladder inside one step: first what
 * the error names, then everything opaque of this origin, then the original error is surfaced. Scoped to the origin that refused; another key or model is unaffected (failures.md §5, E-class recovery).
 */

import type { Dialect, ErrorInfo, EventDraft, ReplayOverride } from "../../base/events/index.ts";
import { assertNever } from "../../base/support/index.ts";
import { classOf, remedyFor, USER_AFTER_TOOL, USER_AFTER_USER, type Violation } from "../providers/index.ts";
import { type Correction, everything, named, type Refused } from "./corrections.ts";

type Override = Pick<ReplayOverride, "type" | "what" | "action" | "target" | "cause">;

/** The corrections for a refusal, or undefined when none would help. `before`: what was tried in this step, in order. */
export function healingOf(
  refusal: Refused,
  before: readonly (readonly EventDraft[])[],
): readonly EventDraft[] | undefined {
  const rung = before.length;
  if (rung > MAX_RUNGS) return undefined;
  const { remedy } = remedyFor(refusal.error);
  if (remedy === "ask_to_go_on") return rung === 0 ? wordOfAUser(refusal) : undefined;
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
      message: `${stopped(refusal)}; sent again ${describe(corrections, error)}`,
    },
  ];
}

/** Named corrections may be needed twice (two items refused one after the other); the last rung is everything. */
const MAX_RUNGS = 2;

/** What did not help once does not help the second time. */
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

/** Where a rule is broken, as the dialect's errors would write it. */
export function pathOf({ index, part }: Violation, dialect: Dialect): string {
  if (dialect === "openai-responses") return `input[${index}]`;
  return `messages.${index}${part === undefined || dialect === "openai-chat" ? "" : `.content.${part}`}`;
}

/** Known by its code: a request that our own rules stopped never reached the provider. */
const OWN_RULE = "rule_violation";

export function ruleError({ rule, message }: Violation, param: string): ErrorInfo {
  const known = classOf({ code: OWN_RULE, message, param });
  const told = known === "OTHER" ? "PAIR" : known;
  return { code: OWN_RULE, message: `not sent, rule ${rule}: ${message}`, class: told, param };
}

/** Who stopped the request, and with what words. */
function stopped({ error, target }: Refused): string {
  const { code, message } = error;
  if (code !== OWN_RULE) return `${target.provider}/${target.model} refused the request (${message})`;
  const [, rule = "", why = message] = /^not sent, (rule \S+): (.*)$/s.exec(message) ?? [];
  return `our own check (${rule}) stopped the request to ${target.provider}/${target.model} (${why})`;
}

/** The conversation must not end with the model's own words (failures.md C08). */
function wordOfAUser(refusal: Refused): readonly EventDraft[] {
  return [
    { type: "user_message", by: "runtime", content: [{ type: "text", text: "Go on." }] },
    {
      type: "notice",
      code: "healed",
      message: `${stopped(refusal)}; sent again with a message that asks it to go on`,
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
        : (SAID_OF[what.field] ?? `without "${what.field}"`);
    case "call":
      return `without the call ${what.callId}${corrections.length > 1 ? ` and ${corrections.length - 1} more` : ""}`;
    case "all":
      return "without earlier reasoning";
    default:
      return assertNever(what, "correction");
  }
}

/** What it means that a field stays out, where that is not plain. */
const SAID_OF: Readonly<Record<string, string>> = {
  tool_choice: 'without "tool_choice": whether and which tool to use is left to the model',
  [USER_AFTER_TOOL]: "with a word between a tool's message and the user's",
  [USER_AFTER_USER]: "with a word between two messages of the user",
};

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
