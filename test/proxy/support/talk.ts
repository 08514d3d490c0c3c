/** The smallest client that loses its thoughts: it keeps the text of every answer, and nothing else. */

import {
  arrayOf,
  type JsonObject,
  objectOf,
  stringOf,
  tryParseJson,
} from "../../../src/base/support/index.ts";
import type { Header } from "./http-bytes.ts";

/** What a person said, or what the model did. */
export type Said = { readonly user: string } | { readonly model: string };

export interface Heard {
  readonly text: string;
  /** The payload, signature or words of its thought: what must be in the next request. */
  readonly thought: string;
}

export interface Talker {
  readonly name: string;
  readonly path: string;
  readonly head: JsonObject;
  headers(key: string): readonly Header[];
  body(history: readonly Said[], stream: boolean): string;
  heard(answer: string, stream: boolean): Heard;
}

function elements(history: readonly Said[]): readonly JsonObject[] {
  return history.map((said) =>
    "user" in said ? { role: "user", content: said.user } : { role: "assistant", content: said.model },
  );
}

/** The data of the events of a stream. */
export function eventsIn(text: string): readonly JsonObject[] {
  return text
    .split("\n")
    .flatMap((line) => (line.startsWith("data: {") ? [objectOf(tryParseJson(line.slice(6)))] : []));
}

const bearer = (key: string): readonly Header[] => [["Authorization", `Bearer ${key}`]];

export const responses: Talker = {
  name: "responses",
  path: "/v1/responses",
  head: { model: "emu-reasoner", store: false },
  headers: bearer,
  body: (history, stream) => JSON.stringify({ ...responses.head, stream, input: elements(history) }),
  heard(answer, stream) {
    const response = stream
      ? objectOf(eventsIn(answer).find(({ type }) => type === "response.completed")?.["response"])
      : objectOf(tryParseJson(answer));
    const items = arrayOf(response["output"]).map(objectOf);
    // A client that reads a stream has the payload of the item, not the one that the end repeats.
    const done = eventsIn(answer).flatMap((event) =>
      event["type"] === "response.output_item.done" ? [objectOf(event["item"])] : [],
    );
    const thought = (stream ? done : items).find(({ type }) => type === "reasoning");
    const texts = items
      .filter(({ type }) => type === "message")
      .flatMap(({ content }) => arrayOf(content).map((part) => stringOf(objectOf(part)["text"]) ?? ""));
    return { text: texts.join(""), thought: stringOf(thought?.["encrypted_content"]) ?? "" };
  },
};

export const messages: Talker = {
  name: "messages",
  path: "/v1/messages",
  head: { model: "emu-claude", max_tokens: 4000, thinking: { type: "enabled", budget_tokens: 2000 } },
  headers: (key) => [
    ["x-api-key", key],
    ["anthropic-version", "2023-06-01"],
  ],
  body: (history, stream) => JSON.stringify({ ...messages.head, stream, messages: elements(history) }),
  heard(answer, stream) {
    const blocks = stream
      ? eventsIn(answer).map(({ delta }) => objectOf(delta))
      : arrayOf(objectOf(tryParseJson(answer))["content"]).map(objectOf);
    const joined = (field: string): string => blocks.map((block) => stringOf(block[field]) ?? "").join("");
    return { text: joined("text"), thought: joined("signature") };
  },
};

export const chat: Talker = {
  name: "chat",
  path: "/v1/chat/completions",
  head: { model: "emu-deepseek" },
  headers: bearer,
  body: (history, stream) => JSON.stringify({ ...chat.head, stream, messages: elements(history) }),
  heard(answer, stream) {
    const parts = (stream ? eventsIn(answer) : [objectOf(tryParseJson(answer))]).map(({ choices }) => {
      const choice = objectOf(arrayOf(choices)[0]);
      return objectOf(choice[stream ? "delta" : "message"]);
    });
    const joined = (field: string): string => parts.map((part) => stringOf(part[field]) ?? "").join("");
    return { text: joined("content"), thought: JSON.stringify(joined("reasoning_content")).slice(1, -1) };
  },
};

export const TALKERS: readonly Talker[] = [responses, messages, chat];
