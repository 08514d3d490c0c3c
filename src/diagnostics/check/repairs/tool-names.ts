/** Maps a tool name that no API accepts (T15), in a call and its result, with the function that our own requests use. */

import { sendableToolName, sliceArray, sliceMember } from "../../../base/support/index.ts";
import type { History, Spot } from "../history.ts";
import { textMember } from "../json-text.ts";
import { lookupOf, oncePerHistory } from "./lookup.ts";
import type { Repair } from "./repair.ts";

/** `callId` is the id of the call at this place. Its results may also have the name. */
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
  // Most formats have the name only in the call. A repair that changes nothing is not reported.
  const carries = (result: Spot): boolean =>
    history.moves
      ? textMember(textAt(history, result), "name") === from
      : history.apply([{ do: "name", at: result, from, to }]) !== history.apply([]);
  return [at, ...results.filter(carries)].map((spot) => ({
    rule,
    edit: { do: "name", at: spot, from, to },
    what: `mapped the name of the tool to ${to}`,
  }));
}

/** A history that can move a result has the same text in the file as in the request. */
function textAt(history: History, { index, part }: Spot): string {
  return (part === undefined ? history.pieces[index]?.text : lookupOf(history).blocks(index)[part]) ?? "";
}

const declaredNames = oncePerHistory(({ head = "" }): ReadonlySet<string | undefined> => {
  const tools = sliceArray(sliceMember(head, "tools") ?? "");
  return new Set(
    tools.map((tool) => textMember(tool, "name") ?? textMember(sliceMember(tool, "function") ?? "", "name")),
  );
});
