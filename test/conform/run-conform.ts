/** Runs of conform against emulators and against other servers. */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { conform, type ConformOptions, type ConformReport } from "../../src/diagnostics/conform/index.ts";
import { type EmulatorOptions, type Fault, parseFaults, startEmulator } from "../../src/emulator/index.ts";
import { afterTest } from "../support/clean-up.ts";

export async function emulatorUrl(options: EmulatorOptions = {}): Promise<string> {
  const emulator = await startEmulator(options);
  afterTest(() => emulator.close());
  return emulator.baseUrl;
}

/** A server with custom behaviour. */
export async function serverUrl(
  serve: (request: IncomingMessage, response: ServerResponse, body: string) => void,
): Promise<string> {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (piece: Buffer) => (body += piece.toString()));
    request.on("end", () => serve(request, response, body));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  afterTest(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

/** Accepts every request without `store`, and refuses the others with its own text. */
export function refusingUrl(words: (request: IncomingMessage) => string): Promise<string> {
  return serverUrl((request, response, body) => {
    if (!body.includes('"store"')) {
      const event = '{"type":"response.output_item.added","output_index":0,"item":{}}';
      response.writeHead(200, { "content-type": "text/event-stream" }).end(`data: ${event}\n\n`);
      return;
    }
    const error = { message: words(request), type: "invalid_request_error", param: null, code: null };
    response.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify({ error }));
  });
}

/** Another server's answers, with changes. */
export function proxyUrl(
  baseUrl: string,
  change: (text: string) => string,
  refuses: (body: string) => boolean = () => false,
): Promise<string> {
  return serverUrl((request, response, body) => {
    if (refuses(body)) {
      response.writeHead(400).end('{"error":{"message":"not here"}}');
      return;
    }
    const pass = async (): Promise<void> => {
      const headers = { authorization: request.headers.authorization ?? "" };
      const got = await fetch(`${baseUrl}/responses`, { method: "POST", headers, body });
      const type = got.headers.get("content-type") ?? "";
      response.writeHead(got.status, { "content-type": type }).end(change(await got.text()));
    };
    void pass();
  });
}

export const KEY = "sk-key-that-nobody-prints";

export function run(baseUrl: string, options: Partial<ConformOptions> = {}): Promise<ConformReport> {
  return conform({
    baseUrl,
    model: "emu-reasoner",
    secondModel: "emu-reasoner-mini",
    apiKey: KEY,
    timeoutMs: 10_000,
    ...options,
  });
}

/** The same fault in every answer: a server that behaves like that. */
export function always(fault: string): readonly Fault[] {
  const [one] = parseFaults(fault);
  if (one === undefined) throw new Error(`no fault: ${fault}`);
  return Array.from({ length: 200 }, () => one);
}

export function withResult(report: ConformReport, result: string): readonly string[] {
  return report.results.filter((one) => one.result === result).map(({ id }) => id);
}

/** The report about a server, in one object. */
export function told(report: ConformReport): {
  readonly differs: readonly string[];
  readonly skipped: readonly string[];
  readonly error: readonly string[];
} {
  return {
    differs: withResult(report, "differs"),
    skipped: withResult(report, "skipped"),
    error: withResult(report, "error"),
  };
}

/** The emulator's reasoning is opaque by default, so this probe has nothing to send. */
export const READABLE = "replay.readable";

/** Probes that break a whole group, and so need one that is accepted. */
export const GROUP_BREAKS: readonly string[] = [
  "refuses.missing-follower",
  "refuses.call-without-reasoning",
  "refuses.message-without-reasoning",
  "refuses.id-asymmetry",
  "refuses.bare-id",
  "refuses.altered-payload",
  "refuses.changed-id",
  "refuses.other-model",
  "refuses.early-payload",
  "refuses.missing-summary",
  "refuses.status",
  "refuses.content",
  "refuses.duplicate-id",
  "refuses.item-reference",
];
