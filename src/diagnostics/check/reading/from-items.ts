/** Responses items as entries: consecutive items of the model are one answer, as the API returned them. */

import {
  arrayOf,
  isObject,
  type JsonObject,
  objectOf,
  stringOf,
  tryParseJson,
} from "../../../base/support/index.ts";
import { isOutputType } from "../../../runtime/rules/index.ts";
import { type AnswerEntry, type HistoryEntry, type LeftOutList, type ResultEntry } from "./entry.ts";
import { inputParts, resultText } from "./input-parts.ts";

export interface StoredItem {
  readonly text: string;
  readonly at?: string | undefined;
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
}

export class ItemReader {
  readonly entries: HistoryEntry[] = [];
  readonly #left: LeftOutList;
  /** Calls that the server ran: their outputs belong to the same answer. */
  readonly #serverCalls = new Set<string>();
  #open: { readonly items: string[]; readonly first: StoredItem } | undefined;

  constructor(left: LeftOutList) {
    this.#left = left;
  }

  /** `by`: who wrote the messages with the role of the user. */
  add(item: StoredItem, by: "person" | "runtime" = "person"): void {
    const value = objectOf(tryParseJson(item.text));
    const type = stringOf(value["type"]) ?? "message";
    const role = stringOf(value["role"]);
    if (type === "message" && role !== "assistant") {
      this.end();
      this.#message(value, role, item, by);
      return;
    }
    if (type === "item_reference") {
      this.#left.add("item that only the server has", "items that only the server has");
      return;
    }
    const result = this.#resultOf(type, value, item);
    if (result !== undefined) {
      this.end();
      this.entries.push(result);
      return;
    }
    if (isServerCall(type, value)) this.#serverCalls.add(stringOf(value["call_id"]) ?? "");
    this.#open ??= { items: [], first: item };
    this.#open.items.push(item.text);
  }

  /** Ends the answer that is open. */
  end(): void {
    const open = this.#open;
    this.#open = undefined;
    if (open === undefined) return;
    const { at, provider, model } = open.first;
    const answer: AnswerEntry = {
      kind: "answer",
      dialect: "openai-responses",
      items: open.items,
      provider,
      model,
      at,
    };
    this.entries.push(answer);
  }

  #message(value: JsonObject, role: string | undefined, { at }: StoredItem, by: "person" | "runtime"): void {
    if (role !== "user") {
      this.#left.add(`${role ?? "nameless"} message`, `${role ?? "nameless"} messages`);
      return;
    }
    const parts = inputParts(value["content"], this.#left);
    if (parts.length === 0) this.#left.add("empty message", "empty messages");
    else this.entries.push({ kind: "user", by, parts, at });
  }

  #resultOf(type: string, value: JsonObject, { at }: StoredItem): ResultEntry | undefined {
    const callId = stringOf(value["call_id"]) ?? "";
    if (type === "mcp_approval_response") {
      const text = value["approve"] === true ? "true" : (stringOf(value["reason"]) ?? "not approved");
      const approved = stringOf(value["approval_request_id"]) ?? "";
      return { kind: "result", callId: approved, text, failed: value["approve"] !== true, at };
    }
    if (type === "tool_search_output" && value["execution"] === "client")
      return { kind: "result", callId, text: JSON.stringify(value["tools"] ?? []), at };
    if (!isOutputType(type) || this.#serverCalls.has(callId)) return undefined;
    const { output } = value;
    const told = type === "shell_call_output" ? shellText(output) : resultText(output);
    return {
      kind: "result",
      callId,
      text: told.text,
      failed: value["status"] === "failed" || value["status"] === "incomplete",
      full: told.whole ? undefined : JSON.stringify(output),
      at,
    };
  }
}

function isServerCall(type: string, value: JsonObject): boolean {
  if (type === "shell_call") return objectOf(value["environment"])["type"] === "container_reference";
  return type === "tool_search_call" && value["execution"] !== "client";
}

function shellText(output: unknown): { readonly text: string; readonly whole: boolean } {
  const parts = arrayOf(output).filter(isObject);
  const texts = parts.flatMap((part) => [stringOf(part["stdout"]) ?? "", stringOf(part["stderr"]) ?? ""]);
  return {
    text: texts
      .filter((text) => text !== "")
      .join("\n")
      .toWellFormed(),
    whole: parts.length === 1,
  };
}
