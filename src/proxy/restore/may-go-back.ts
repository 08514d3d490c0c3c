/** Whether the thoughts of a known answer may go back in this request. If not, the reason, for people. */

import { codedError } from "../../base/support/index.ts";
import { capabilitiesOf, HOSTED_RULES } from "../../runtime/providers/index.ts";
import type { Group, KnownThought } from "../ledger/index.ts";
import type { RequestFacts } from "./request-facts.ts";
import type { Target } from "./target.ts";

/** Vendors that refuse a thought although they give one (failures.md V03). */
const TAKES_NOTHING_BACK = /^(?:emu-deepseek-old|deepseek-reasoner$)/;

/** Undefined if they may. */
export function whyNot(group: Group, facts: RequestFacts, target: Target): string | undefined {
  if (target.putsBack === "nothing") return "nothing is known of what this endpoint takes back";
  if (facts.thinking === "off") return "thinking is off in this request";
  if (facts.thinking === "unset" && group.thinking !== "unset")
    return "this request does not ask for thinking";
  if (group.model !== facts.model && !crosses(group, facts, target)) return `issued by ${group.model}`;
  if (!group.thoughts.every((thought) => isTaken(thought, group, facts, target)))
    return "the endpoint does not take this form back";
  return undefined;
}

/** Readable thoughts are not bound to a model, and some models read those of others (failures.md C10). */
function crosses(group: Group, { model }: RequestFacts, { profile }: Target): boolean {
  if (group.thoughts.every(({ opaque }) => !opaque)) return familyOf(group.model) === familyOf(model);
  const { readsThoughtsOf } = capabilitiesOf(profile.dialect, model);
  return readsThoughtsOf !== undefined && new RegExp(readsThoughtsOf).test(group.model);
}

/** `moonshotai/kimi-k3` and `kimi-k2.6` are of one vendor; a gateway has models of many. */
function familyOf(model: string): string {
  const name = model.toLowerCase().replace(/^.*\//, "").replace(/^emu-/, "");
  return /^[a-z]+/.exec(name)?.[0] ?? name;
}

function isTaken(
  { form, opaque }: KnownThought,
  { stored }: Group,
  facts: RequestFacts,
  { profile, putsBack }: Target,
): boolean {
  switch (profile.dialect) {
    case "openai-responses":
      if (form !== "reasoning" && HOSTED_RULES[form]?.home !== "replay") return false;
      if (opaque || form !== "reasoning") return true;
      // Without a payload, only the server's own copy can be named.
      return (stored && facts.stored) || putsBack === "own" || profile.reasoningPayload === "optional";
    case "anthropic-messages":
      return opaque || putsBack === "own" || profile.reasoningPayload === "optional";
    case "openai-chat":
      if (TAKES_NOTHING_BACK.test(facts.model)) return false;
      return putsBack === "own" || isListed(form, profile.chat?.reasoningFields ?? []);
    default:
      throw codedError("dialect_unknown", `unknown dialect "${String(profile.dialect)}"`);
  }
}

function isListed(form: string, fields: readonly string[]): boolean {
  return fields.includes(form);
}
