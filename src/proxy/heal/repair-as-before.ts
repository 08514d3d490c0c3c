/** Later requests of a conversation carry every repair that was accepted, without another refusal. */

import { withoutMember } from "../../base/support/index.ts";
import type { Ledger } from "../ledger/index.ts";
import { type Body, elementText, openWire, withElements } from "../restore/index.ts";
import { answerKey, elementKeys, KEPT_OUT, LEFT_OUT, payloadKeys, WITHOUT } from "./element-keys.ts";
import { repairRequest } from "./repair.ts";

/** Whether the provider refused what was put back for an answer. */
export function isKeptOut(ledger: Ledger, scope: string, group: string): boolean {
  return ledger.index.overrides(scope, answerKey(group, ledger.mark))?.has(KEPT_OUT) === true;
}

/** The same body if there is nothing to repair. */
export function repairAsBefore(body: Body, ledger: Ledger, scope: string, vendor: string | undefined): Body {
  if (!ledger.index.hasOverrides(scope)) return body;
  const { mark, index } = ledger;
  const keys = elementKeys(body, mark);
  const payloads = payloadKeys(body, mark);
  const classes = new Set<string>();
  const refused = new Set<string>();
  const elements = keys.flatMap((key, at) => {
    const whats = new Set(index.overrides(scope, key) ?? []);
    const isLeftOut = (payloads[at] ?? []).some((one) => index.overrides(scope, one)?.has(LEFT_OUT) === true);
    if (isLeftOut) for (const one of payloads[at] ?? []) refused.add(one);
    if (body.dialect === "openai-responses" && (isLeftOut || whats.has(LEFT_OUT))) return [];
    let text = elementText(body, at);
    for (const what of whats)
      if (what.startsWith(WITHOUT)) text = withoutMember(text, what.slice(WITHOUT.length));
      else if (what !== LEFT_OUT) classes.add(what);
    return [text];
  });
  const edited =
    body.dialect === "openai-responses" ? openWire(body.dialect, withElements(body, elements)) : body;
  if (edited === undefined) return body;
  const drops = body.dialect === "openai-responses" ? undefined : isAmong(refused, ledger);
  if (classes.size === 0 && (drops === undefined || refused.size === 0))
    return edited.text === body.text ? body : edited;
  const again = repairRequest(edited.text, { dialect: body.dialect, classes, drops, vendor });
  const repaired = again === undefined ? edited : (openWire(body.dialect, again.text) ?? edited);
  return repaired.text === body.text ? body : repaired;
}

function isAmong(refused: ReadonlySet<string>, { mark }: Ledger): (payload: string) => boolean {
  return (payload) => FORMS.some((form) => refused.has(mark(`identity\n${form}\n${payload}`)));
}

const FORMS = ["thinking", "redacted_thinking"] as const;
