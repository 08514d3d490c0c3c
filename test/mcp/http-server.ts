/**
 * A server at an address, written by hand: it answers a handshake of either era properly, and calls however the test says.
 * It runs in the process of the test, which counts the calls.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

import { isObject, type JsonObject } from "../../src/base/support/index.ts";
import type { McpServerConfig } from "../../src/runtime/mcp/index.ts";
import { afterTest } from "../support/clean-up.ts";

export interface HttpCall {
  readonly id: unknown;
  readonly params: JsonObject;
  readonly input: JsonObject;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly socket: Socket;
  /** A result in the form of the server's era, as a message. */
  readonly answer: (result: JsonObject) => string;
}

export interface HttpServerOptions {
  readonly modern: boolean;
  readonly tools: readonly object[];
  readonly call: (call: HttpCall) => unknown;
  /** A request that is no POST. Default: 405. */
  readonly other?: (request: IncomingMessage, response: ServerResponse) => unknown;
  readonly handshake?: JsonObject;
}

export async function httpServer(options: HttpServerOptions): Promise<McpServerConfig & { url: string }> {
  const server = createServer((request, response) => void serve(options, request, response));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  afterTest(() => stop(server));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp` };
}

function stop(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((done) => server.close(() => done()));
}

async function serve(
  { modern, tools, call, other, handshake = {} }: HttpServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method !== "POST") {
    if (other === undefined) response.writeHead(405).end();
    else await other(request, response);
    return;
  }
  const { id, method, params } = JSON.parse(await textOf(request)) as JsonObject;
  const answer = (result: JsonObject): string =>
    JSON.stringify({
      jsonrpc: "2.0",
      id,
      result: modern ? { resultType: "complete", ttlMs: 0, cacheScope: "private", ...result } : result,
    });
  const reply = (result: JsonObject): unknown =>
    response.writeHead(200, { "content-type": "application/json" }).end(answer(result));
  const capabilities = { tools: {} };
  if (id === undefined) response.writeHead(202).end();
  else if (method === "server/discover" && modern)
    reply({ supportedVersions: ["2026-07-28"], capabilities, ...handshake });
  else if (method === "initialize" && !modern)
    reply({
      protocolVersion: "2025-11-25",
      capabilities,
      serverInfo: { name: "http", version: "1" },
      ...handshake,
    });
  else if (method === "tools/list") reply({ tools });
  else if (method === "tools/call") {
    const given = isObject(params) ? params : {};
    const input = isObject(given["arguments"]) ? given["arguments"] : {};
    await call({ id, params: given, input, request, response, socket: request.socket, answer });
  } else {
    const error = { code: -32_601, message: "not found" };
    response
      .writeHead(400, { "content-type": "application/json" })
      .end(JSON.stringify({ jsonrpc: "2.0", id, error }));
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

export const EFFECT = {
  name: "effect",
  description: "Has an effect that is counted.",
  inputSchema: {
    type: "object",
    properties: { id: { type: "integer" }, phase: { type: "string" } },
    required: ["id", "phase"],
    additionalProperties: false,
  },
};

export const text = (said: string): JsonObject => ({ content: [{ type: "text", text: said }] });
