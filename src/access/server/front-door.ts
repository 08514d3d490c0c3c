/**
 * Takes every request first: asks the gate, refuses, or passes it on to the routes. Also answers what is no request at
 * all.
 */

import type { IncomingMessage, Server, ServerResponse } from "node:http";

import { answerMalformedRequests, type Connections } from "../gate/index.ts";
import { answerEarly } from "./answer-early.ts";
import type { ServerParts } from "./context.ts";
import {
  type GateRules,
  isOpen,
  judge,
  type KeyDenial,
  type KnownKey,
  STORE_AWAY,
  TOO_MANY_REQUESTS,
  TOO_MANY_WRONG_KEYS,
  type Verdict,
} from "./gate.ts";
import { RETRY_SECONDS } from "./http-errors.ts";
import { LOGIN_NEEDED } from "./page.ts";
import { awaitContinue } from "./read-body.ts";
import { setSecurityHeaders } from "./security-headers.ts";

export interface DoorParts {
  readonly connections: Connections;
  readonly rules: GateRules;
  readonly parts: Pick<ServerParts, "wrongKeys" | "limits">;
  /** Whether the tenant of a key has as many requests as it may have. */
  readonly isFull: (key: KnownKey) => boolean;
  /** Called with the key of a request before its route sees it. */
  readonly admitted: (request: IncomingMessage, response: ServerResponse, key: KnownKey) => void;
  readonly listener: (request: IncomingMessage, response: ServerResponse) => void;
}

export function openDoor(
  server: Server,
  { connections, rules, parts, isFull, admitted, listener }: DoorParts,
): void {
  const settle = (request: IncomingMessage, response: ServerResponse, verdict: Verdict): void => {
    if (response.destroyed) return; // its sender left while the key was looked up
    const { key } = verdict;
    const denial = verdict.denial ?? (key !== undefined && isFull(key) ? TOO_MANY_REQUESTS : undefined);
    if (denial === undefined && !isOpen(request)) connections.admit(request, response);
    else connections.limit(request, response);
    if (denial !== undefined) return refuse(request, response, denial, parts);
    if (key !== undefined) admitted(request, response, key);
    listener(request, response);
  };
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    connections.begin(request, response);
    setSecurityHeaders(response);
    const verdict = judge(request, rules);
    // Awaited only if there is something to wait for: a request for an own key is taken in the order of its arrival.
    settle(
      request,
      response,
      verdict instanceof Promise ? await inTime(verdict, parts.limits.strangerMs) : verdict,
    );
  };
  server.on("request", (request: IncomingMessage, response: ServerResponse) => void take(request, response));
  server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    awaitContinue(request, response); // continued only when a route reads the body
    void take(request, response);
  });
  answerMalformedRequests(server);
}

/** A key that cannot be looked up is neither right nor wrong. */
async function inTime(verdict: Promise<Verdict>, ms: number): Promise<Verdict> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Verdict>((resolve) => {
    timer = setTimeout(() => resolve({ denial: STORE_AWAY }), ms);
  });
  try {
    return await Promise.race([verdict.catch(() => ({ denial: STORE_AWAY })), late]);
  } finally {
    clearTimeout(timer);
  }
}

function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  refusal: KeyDenial,
  { wrongKeys, limits }: DoorParts["parts"],
): void {
  const wait = refusal.wrongKey === true ? wrongKeys.add() : undefined;
  const { status, code, message } = wait === undefined ? refusal : TOO_MANY_WRONG_KEYS;
  if (wait !== undefined || status === 503 || status === 429)
    response.setHeader("retry-after", wait ?? RETRY_SECONDS);
  const forPeople = status === 401 && (request.headers.accept ?? "").includes("text/html");
  const headers = {
    "content-type": forPeople ? "text/html; charset=utf-8" : "application/json",
    ...(status === 401 ? { "www-authenticate": "Bearer" } : {}),
  };
  const text = forPeople ? LOGIN_NEEDED : JSON.stringify({ error: { code, message } });
  answerEarly(request, response, { status, headers, text }, limits);
}
