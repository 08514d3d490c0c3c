/**
 * What a client writes differently without meaning anything else: renamed call ids, dropped item ids, arguments in
 * another notation, split and merged messages, text as a string or as parts. All of it is the same in every request.
 *
 * @module
 */

import { createHash } from "node:crypto";

import {
  arrayOf,
  isObject,
  type JsonObject,
  objectOf,
  tryParseJson,
} from "../../../src/base/support/index.ts";
import type { Draft } from "./dialect.ts";
import { isThought } from "./messages.ts";
import { type DialectName, type Element, FROM, fromOf } from "./truth.ts";

/** Nine letters and digits, which every vendor accepts. */
function renamed(id: string): string {
  return createHash("sha1").update(id).digest("hex").slice(0, 9);
}

export function renameCalls(dialect: DialectName, draft: Draft): Draft {
  return mapElements(dialect, draft, withRenamedCalls);
}

function withRenamedCalls(element: Element): Element {
  const out: Record<string | symbol, unknown> = { ...element };
  for (const name of ["call_id", "tool_call_id", "tool_use_id"]) {
    const id = element[name];
    if (typeof id === "string") out[name] = renamed(id);
  }
  if (element["type"] === "tool_use") out["id"] = renamed(String(element["id"]));
  if (Array.isArray(element["tool_calls"]))
    out["tool_calls"] = element["tool_calls"].map((call: JsonObject) => ({
      ...call,
      id: renamed(String(call["id"])),
    }));
  return out;
}

/** Responses only. `all`: the ids of reasoning too. */
export function dropItemIds(draft: Draft, all: boolean): Draft {
  return mapElements("openai-responses", draft, (item) => {
    if (!all && item["type"] === "reasoning") return item;
    const { id: _, ...rest } = item;
    return rest;
  });
}

export function rewriteArguments(dialect: DialectName, draft: Draft): Draft {
  return mapElements(dialect, draft, (element) => {
    if (element["type"] === "function_call")
      return { ...element, arguments: otherNotation(String(element["arguments"])) };
    if (element["type"] === "tool_use") return { ...element, input: reversed(element["input"]) };
    if (!Array.isArray(element["tool_calls"])) return element;
    const calls = element["tool_calls"].map((call: JsonObject) => {
      const made = objectOf(call["function"]);
      return { ...call, function: { ...made, arguments: otherNotation(String(made["arguments"])) } };
    });
    return { ...element, tool_calls: calls };
  });
}

/** Keys in another order, spaces, and escapes for everything outside ASCII. */
function otherNotation(json: string): string {
  const value = tryParseJson(json);
  if (value === undefined) return json;
  const text = JSON.stringify(reversed(value), null, 1).replaceAll(/\n\s*/g, " ");
  return text.replaceAll(
    /[\u0080-\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function reversed(value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).toReversed());
}

export function splitMessages(dialect: DialectName, draft: Draft): Draft {
  const list = draft.list.flatMap((element): readonly Element[] => {
    if (element["role"] !== "assistant") return [element];
    if (dialect === "openai-responses") return [{ ...element, content: halves(element["content"]) }];
    if (dialect === "anthropic-messages") return perBlock(element);
    return textAndCalls(element);
  });
  return { ...draft, list };
}

function halves(content: unknown): unknown {
  return arrayOf(content).flatMap((part) => {
    const { text } = objectOf(part);
    if (typeof text !== "string" || text.length < 4) return [part];
    const at = Math.floor(text.length / 2);
    return [
      { ...objectOf(part), text: text.slice(0, at) },
      { ...objectOf(part), text: text.slice(at) },
    ];
  });
}

/** One message per visible block; a thought stays with the block after it. */
function perBlock(message: Element): readonly Element[] {
  const out: Element[] = [];
  let thoughts: unknown[] = [];
  for (const block of arrayOf(message["content"])) {
    if (isThought(objectOf(block))) {
      thoughts.push(block);
      continue;
    }
    out.push({ role: "assistant", content: [...thoughts, block] });
    thoughts = [];
  }
  return out.length === 0 ? [message] : out;
}

/** The thought goes with the calls, where most vendors want it. */
function textAndCalls(message: Element): readonly Element[] {
  const from = fromOf(message);
  const { content } = message;
  if (typeof content !== "string" || content === "" || !Array.isArray(message["tool_calls"]))
    return [message];
  const { answer, members } = from ?? {};
  const part = (some: readonly number[]): Element =>
    answer === undefined ? {} : { [FROM]: { answer, members: some } };
  return [
    { role: "assistant", content, ...part(members?.slice(0, 1) ?? []) },
    { ...message, content: null, ...part(members?.slice(1) ?? []) },
  ];
}

/** Messages only: neighbours of one role become one message, and single texts become strings. */
export function mergeMessages(draft: Draft): Draft {
  const list: Element[] = [];
  for (const message of draft.list) {
    const last = list.at(-1);
    if (last !== undefined && last["role"] === message["role"])
      list[list.length - 1] = {
        ...last,
        content: [...arrayOf(last["content"]), ...arrayOf(message["content"])],
      };
    else list.push(message);
  }
  return { ...draft, list };
}

/** Content as a string becomes parts, and single parts become a string. Marked blocks lose nothing: they are alone. */
export function otherContent(dialect: DialectName, draft: Draft): Draft {
  const list = draft.list.map((element): Element => {
    const { content, role } = element;
    if (role === "system" || content === null || content === undefined) return element;
    if (typeof content === "string") {
      if (content === "" || role === "tool") return element;
      return { ...element, content: [{ type: "text", text: content }] };
    }
    const [only, ...more] = arrayOf(content);
    const { type, text } = objectOf(only);
    if (more.length > 0 || typeof text !== "string" || !String(type).endsWith("text")) return element;
    // A string has no symbol: only Responses keeps it on the item. Other assistant texts stay as they are.
    if (role === "assistant" && dialect === "anthropic-messages") return element;
    return { ...element, content: text };
  });
  return { ...draft, list };
}

/** Messages only: the breakpoint of the prompt cache moves with the end of the request. */
export function moveCacheMark(draft: Draft): Draft {
  const last = draft.list.length - 1;
  const list = draft.list.map((message, at): Element => {
    if (at !== last || !Array.isArray(message["content"])) return message;
    const content = message["content"].map((block: Element, index: number) =>
      index === (message["content"] as readonly unknown[]).length - 1
        ? { ...block, cache_control: { type: "ephemeral" } }
        : block,
    );
    return { ...message, content };
  });
  return { ...draft, list };
}

/** Items, blocks or messages, whichever carry calls. */
export function mapElements(dialect: DialectName, draft: Draft, map: (element: Element) => Element): Draft {
  const list = draft.list.map((element): Element => {
    if (dialect !== "anthropic-messages" || !Array.isArray(element["content"])) return map(element);
    return { ...element, content: element["content"].map((block: Element) => map(block)) };
  });
  return { ...draft, list };
}
