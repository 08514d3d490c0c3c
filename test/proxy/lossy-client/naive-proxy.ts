/**
 * A proxy as people write it in an afternoon: it remembers thoughts in memory, by the first call id or else by the text
 * of the answer. It exists to show that the judge sees what such a proxy does wrong.
 *
 * @module
 */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import {
  arrayOf,
  isObject,
  type JsonObject,
  objectOf,
  tryParseJson,
} from "../../../src/base/support/index.ts";
import { chat } from "./chat.ts";
import type { Assembled, LossyDialect } from "./dialect.ts";
import { isThought, messages } from "./messages.ts";
import { responses } from "./responses.ts";

const dialects: readonly LossyDialect[] = [responses, messages, chat];

export async function startNaiveProxy(to: string): Promise<{ readonly url: string; close(): Promise<void> }> {
  const memory = new Map<string, Assembled>();
  const server = createServer((request, response) => {
    void relay(to, memory, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve());
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function relay(
  to: string,
  memory: Map<string, Assembled>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const dialect = dialects.find(({ path }) => request.url === path);
  const text = Buffer.concat(chunks).toString("utf8");
  const body = objectOf(tryParseJson(text));
  const headers = Object.fromEntries(
    Object.entries(request.headers).flatMap(([name, value]) =>
      typeof value === "string" &&
      !["host", "connection", "content-length", "transfer-encoding"].includes(name)
        ? [[name, value]]
        : [],
    ),
  );
  const sent = dialect === undefined ? text : JSON.stringify(restored(dialect, body, memory));
  const answer = await fetch(to + (request.url ?? ""), { method: "POST", headers, body: sent });
  const said = await answer.text().catch(() => "");
  if (dialect !== undefined && answer.ok) remember(dialect, said, memory);
  response.writeHead(answer.status, {
    "content-type": answer.headers.get("content-type") ?? "",
    "x-throughline": sent === text ? "passed" : "restored=1",
  });
  response.end(said);
}

function remember(dialect: LossyDialect, said: string, memory: Map<string, Assembled>): void {
  const body = tryParseJson(said);
  const events = said.split("\n").flatMap((line) => {
    const value = line.startsWith("data: ") ? tryParseJson(line.slice(6)) : undefined;
    return isObject(value) ? [value] : [];
  });
  const answer = dialect.assemble(isObject(body) ? { body } : { events });
  if (answer.thoughts.length > 0) memory.set(answer.calls[0]?.id ?? answer.text, answer);
}

function restored(
  dialect: LossyDialect,
  body: JsonObject,
  memory: ReadonlyMap<string, Assembled>,
): JsonObject {
  const list = arrayOf(body[dialect.list]).map(objectOf);
  const known = (key: unknown): JsonObject | undefined =>
    typeof key === "string" ? memory.get(key)?.thoughts[0]?.raw : undefined;
  if (dialect.name === "openai-responses") {
    const input = list.flatMap((item, at) => {
      const first = typeof item["call_id"] === "string" && item["type"] === "function_call";
      const raw = first ? known(item["call_id"]) : undefined;
      return raw === undefined || list[at - 1]?.["type"] === "reasoning" ? [item] : [raw, item];
    });
    return { ...body, input };
  }
  if (dialect.name === "anthropic-messages")
    return { ...body, messages: list.map((message) => withThinking(message, known)) };
  return {
    ...body,
    messages: list.map((message) => {
      if (message["role"] !== "assistant") return message;
      const id = objectOf(arrayOf(message["tool_calls"])[0])["id"];
      const { content: _, ...raw } = known(id ?? message["content"]) ?? {};
      return { ...message, ...raw };
    }),
  };
}

function withThinking(message: JsonObject, known: (key: unknown) => JsonObject | undefined): JsonObject {
  const content = arrayOf(message["content"]).map(objectOf);
  const [first] = content;
  if (message["role"] !== "assistant" || first === undefined || isThought(first)) return message;
  const raw = known(content.find(({ type }) => type === "tool_use")?.["id"] ?? first["text"]);
  return raw === undefined ? message : { ...message, content: [raw, ...content] };
}
