/** Sends a request and reads the answer, whole or as far as the client stays. */

import { Agent, type IncomingMessage, request } from "node:http";

import { isObject, type JsonObject, tryParseJson } from "../../../src/base/support/index.ts";

export interface Sending {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The client leaves after this many events of a stream. */
  readonly leaveAfter: number | undefined;
  readonly via: "fetch" | "http";
}

export interface Got {
  /** 0: the connection broke before an answer. */
  readonly status: number;
  /** `x-throughline`. */
  readonly told: string | undefined;
  readonly text: string;
  readonly body: JsonObject | undefined;
  readonly events: readonly JsonObject[] | undefined;
  /** The client left, or the answer broke off. */
  readonly cut: boolean;
}

export const agent = new Agent({ keepAlive: true, maxSockets: 64 });

export function post(sending: Sending): Promise<Got> {
  return sending.via === "fetch" && sending.leaveAfter === undefined ? byFetch(sending) : byHttp(sending);
}

async function byFetch({ url, headers, body }: Sending): Promise<Got> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body,
    });
    const told = response.headers.get("x-throughline") ?? undefined;
    const type = response.headers.get("content-type") ?? "";
    try {
      return gotOf(response.status, told, type, await response.text(), false);
    } catch {
      return gotOf(response.status, told, type, "", true);
    }
  } catch {
    return gotOf(0, undefined, "", "", true);
  }
}

function byHttp({ url, headers, body, leaveAfter }: Sending): Promise<Got> {
  return new Promise((resolve) => {
    const bytes = Buffer.from(body);
    const sent = request(url, {
      method: "POST",
      agent,
      headers: { "content-type": "application/json", "content-length": bytes.length, ...headers },
    });
    sent.on("response", (response) => {
      readAnswer(response, leaveAfter, (got) => {
        if (leaveAfter !== undefined) sent.destroy();
        resolve(got);
      });
    });
    sent.on("error", () => resolve(gotOf(0, undefined, "", "", true)));
    sent.end(bytes);
  });
}

function readAnswer(
  response: IncomingMessage,
  leaveAfter: number | undefined,
  done: (got: Got) => void,
): void {
  let text = "";
  let ended = false;
  const { statusCode = 0, headers } = response;
  const told = headers["x-throughline"];
  const type = headers["content-type"] ?? "";
  const end = (cut: boolean): void => {
    if (ended) return;
    ended = true;
    done(gotOf(statusCode, typeof told === "string" ? told : undefined, type, text, cut));
  };
  response.setEncoding("utf8");
  response.on("data", (chunk: string) => {
    if (ended) return;
    text += chunk;
    if (leaveAfter === undefined) return;
    const at = endOfEvent(text, leaveAfter);
    if (at === -1) return;
    text = text.slice(0, at);
    end(true);
  });
  response.on("end", () => end(!response.complete));
  response.on("error", () => end(true));
  response.on("aborted", () => end(true));
}

/** Where the given number of events ends; -1 if there are not so many yet. */
function endOfEvent(text: string, count: number): number {
  let at = 0;
  for (let seen = 0; seen < count; seen += 1) {
    const next = text.indexOf("\n\n", at);
    if (next === -1) return -1;
    at = next + 2;
  }
  return at;
}

function gotOf(status: number, told: string | undefined, type: string, text: string, cut: boolean): Got {
  if (type.startsWith("text/event-stream"))
    return { status, told, text, body: undefined, events: eventsIn(text), cut };
  const body = tryParseJson(text);
  return { status, told, text, body: isObject(body) ? body : undefined, events: undefined, cut };
}

function eventsIn(text: string): readonly JsonObject[] {
  const events: JsonObject[] = [];
  for (const line of text.split("\n")) {
    if (!line.startsWith("data: {")) continue;
    const value = tryParseJson(line.slice(6));
    if (isObject(value)) events.push(value);
  }
  return events;
}
