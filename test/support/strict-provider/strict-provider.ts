/**
 * A provider of all three dialects on loopback: it plays the given answers event by event, then answers on its own, and
 * refuses every request that the real one would refuse.
 *
 * @module
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { type Dialect, IssuedRecord } from "./issued.ts";
import { judgeChat } from "./judge-chat.ts";
import { judgeMessages } from "./judge-messages.ts";
import { judgeResponses } from "./judge-responses.ts";
import type { Json, Judge, Refusal } from "./judgement.ts";

export type { Dialect } from "./issued.ts";

const JUDGES: Readonly<Record<Dialect, Judge>> = {
  "openai-responses": judgeResponses,
  "openai-chat": judgeChat,
  "anthropic-messages": judgeMessages,
};

export interface Request {
  readonly dialect: Dialect;
  readonly text: string;
  readonly refusal: Refusal | undefined;
}

export class StrictProvider {
  readonly #server: Server;
  #answers: (readonly string[])[] = [];
  #issued = new Map<Dialect, IssuedRecord>();
  requests: Request[] = [];

  private constructor() {
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static async start(): Promise<StrictProvider> {
    const provider = new StrictProvider();
    await new Promise<void>((resolve) => provider.#server.listen(0, "127.0.0.1", resolve));
    return provider;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  /** Forgets everything and answers the next requests with these events, one list each. */
  play(...answers: readonly (readonly string[])[]): void {
    this.#answers = [...answers];
    this.#issued = new Map();
    this.requests = [];
  }

  /** Answers the next requests with these and no others; earlier issued items stay valid. */
  playNext(...answers: readonly (readonly string[])[]): void {
    this.#answers = [...answers];
  }

  get refusals(): readonly string[] {
    return this.requests.flatMap(({ refusal }) => (refusal === undefined ? [] : [refusal.message]));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk as Uint8Array);
    const text = Buffer.concat(chunks).toString("utf8");
    const dialect = dialectOf(request.url ?? "");
    const issued = this.#issued.get(dialect) ?? new IssuedRecord();
    this.#issued.set(dialect, issued);
    const refusal = JUDGES[dialect](JSON.parse(text) as Json, issued);
    this.requests.push({ dialect, text, refusal });
    if (refusal !== undefined) {
      response.writeHead(refusal.status, { "content-type": "application/json" });
      response.end(JSON.stringify(errorBody(dialect, refusal)));
      return;
    }
    const events = this.#answers.shift() ?? plainAnswer(dialect);
    issued.add(dialect, events);
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(events.map((data) => frame(data, dialect)).join(""));
  }
}

function dialectOf(path: string): Dialect {
  if (path.includes("/responses")) return "openai-responses";
  return path.includes("/messages") ? "anthropic-messages" : "openai-chat";
}

function frame(data: string, dialect: Dialect): string {
  if (dialect === "openai-chat") return `data: ${data}\n\n`;
  return `event: ${(JSON.parse(data) as { type: string }).type}\ndata: ${data}\n\n`;
}

function errorBody(dialect: Dialect, { message, param, code }: Refusal): object {
  const type = "invalid_request_error";
  if (dialect === "anthropic-messages") return { type: "error", error: { type, message } };
  return { error: { message, type, param: param ?? null, code: code ?? null } };
}

function plainAnswer(dialect: Dialect): readonly string[] {
  if (dialect === "openai-responses") {
    const item = {
      type: "message",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "Fine.", annotations: [] }],
    };
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
    return [
      { type: "response.created", response: { id: "resp_plain", status: "in_progress", output: [] } },
      { type: "response.output_item.done", output_index: 0, item },
      {
        type: "response.completed",
        response: { id: "resp_plain", status: "completed", output: [item], usage },
      },
    ].map((event) => JSON.stringify(event));
  }
  if (dialect === "anthropic-messages") {
    const message = {
      id: "msg_plain",
      type: "message",
      role: "assistant",
      content: [],
      model: "m",
      usage: {},
    };
    return [
      { type: "message_start", message },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "Fine." } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } },
      { type: "message_stop" },
    ].map((event) => JSON.stringify(event));
  }
  return [
    JSON.stringify({ id: "c", choices: [{ index: 0, delta: { role: "assistant", content: "Fine." } }] }),
    JSON.stringify({ id: "c", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }),
    "[DONE]",
  ];
}
