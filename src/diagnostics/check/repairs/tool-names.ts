/** A name no API takes (T15) is mapped by the function that maps it in our own requests, for a call and its result alike. */

import { sendableToolName, sliceArray, sliceMember } from "../../../base/support/index.ts";
import type { History, Spot } from "../history.ts";
import { textMember } from "../json-text.ts";
import { lookupOf } from "./lookup.ts";
import type { Repair } from "./repair.ts";

/** `callId`: of the call that stands there; its results may carry the name too. */
export function toolRenamed(
  rule: string,
  history: History,
  at: Spot,
  named: { readonly name: string; readonly callId: string | undefined },
): readonly Repair[] {
  const from = named.name;
  const declared = declaredNames(history);
  const to = sendableToolName(from, (name) => declared.has(name));
  const results = named.callId === undefined ? [] : lookupOf(history).ids(named.callId).results;
  const untouched = results.length === 0 ? "" : history.apply([]);
  // Most formats have the name in the call alone, and what changes nothing is not told.
  const carries = (result: Spot): boolean =>
    history.apply([{ do: "name", at: result, from, to }]) !== untouched;
  return [at, ...results.filter(carries)].map((spot) => ({
    rule,
    edit: { do: "name", at: spot, from, to },
    what: `mapped the name of the tool to ${to}`,
  }));
}

function declaredNames({ head }: History): ReadonlySet<string | undefined> {
  const tools = sliceArray(sliceMember(head ?? "", "tools") ?? "");
  return new Set(
    tools.map((tool) => textMember(tool, "name") ?? textMember(sliceMember(tool, "function") ?? "", "name")),
  );
}
