/**
 * Codex rollouts as entries. A `compacted` line replaces everything before it: the entries before it stay, and a cut says
 * that they are no longer sent. Messages that Codex itself puts before each turn are left out.
 */

import { isObject, objectOf, sliceArray, sliceMember, stringOf } from "../../../base/support/index.ts";
import { NOT_SENT } from "../formats/codex-rollout.ts";
import { jsonLines } from "../json-lines.ts";
import { textMember } from "../json-text.ts";
import { type EntryList, type LeftOutList, textIn, timeOf } from "./entry.ts";
import { ItemReader } from "./from-items.ts";

export function readCodex(text: string, left: LeftOutList): EntryList {
  const { elements, values } = jsonLines(text);
  const reader = new ItemReader(left);
  let cwd: string | undefined;
  let provider = "openai";
  let model: string | undefined;
  for (const [line, value] of values.entries()) {
    if (value === undefined) continue;
    const payload = sliceMember(elements[line] ?? "", "payload") ?? "{}";
    const about = objectOf(value["payload"]);
    const at = timeOf(value["timestamp"]);
    const { type } = value;
    if (type === "session_meta" || type === "turn_context") {
      cwd = textIn(about, "cwd") ?? cwd;
      provider = textIn(about, "model_provider") ?? provider;
      model = textIn(about, "model") ?? model;
    } else if (type === "compacted") {
      reader.end();
      const history = sliceArray(sliceMember(payload, "replacement_history") ?? "");
      const summary = history.length === 0 ? (stringOf(about["message"]) ?? "") : "";
      reader.entries.push({ kind: "cut", before: reader.entries.length, summary, at });
      for (const item of history) add(item, "runtime");
      reader.end();
    } else if (type === "response_item" && isObject(about)) add(payload, "person");

    function add(item: string, by: "person" | "runtime"): void {
      if (NOT_SENT.has(textMember(item, "type") ?? "other")) return;
      if (isPreamble(item)) left.add("message that Codex adds itself", "messages that Codex adds itself");
      else reader.add({ text: item, at, provider, model }, by);
    }
  }
  reader.end();
  return { entries: reader.entries, cwd };
}

/** What Codex tells the model about its environment. Throughline tells it its own. */
const PREAMBLE =
  /^\s*(?:<(?:environment_context|user_instructions|permissions instructions|turn_aborted|collaboration_mode|model_switch)>|# AGENTS\.md instructions)/;

function isPreamble(item: string): boolean {
  if (textMember(item, "role") !== "user") return false;
  const [first = ""] = sliceArray(sliceMember(item, "content") ?? "");
  return PREAMBLE.test(textMember(first, "text") ?? "");
}
