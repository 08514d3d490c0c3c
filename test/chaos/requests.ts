/** Requests of clients: each goes to a random node, and is sent again until it is answered. */

import type { Ledger } from "./ledger.ts";
import type { ChaosNode } from "./nodes.ts";
import type { Random } from "./random.ts";

export interface Answer {
  /** The name of the node that answered. */
  readonly node: string;
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface RequestParts {
  readonly nodes: readonly ChaosNode[];
  readonly ledger: Ledger;
  readonly random: Random;
  readonly token: string;
}

const ATTEMPT_MS = 3000;
const LEAST_PAUSE_MS = 20;
const MOST_PAUSE_MS = 120;

/** Answers that a client can do nothing about but send the request again: the node or the database is away. */
const AGAIN: ReadonlySet<number> = new Set([429, 500, 503]);

/** The session is just changing hands. */
const AGAIN_CODES: ReadonlySet<string> = new Set(["session_locked", "session_open_elsewhere", "log_closed"]);

export function headersOf(token: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${token}`, "content-type": "application/json" };
}

export function codeOfAnswer({ body }: Answer): string {
  const { error } = body as { readonly error?: { readonly code?: string } };
  return error?.code ?? "";
}

/** One attempt at a random node. Undefined: no answer. */
export async function askOnce(
  { nodes, ledger, random, token }: RequestParts,
  path: string,
  { body, waitMs = ATTEMPT_MS }: { readonly body?: object; readonly waitMs?: number } = {},
): Promise<Answer | undefined> {
  const route = path.replace(/\?.*$/, "").split("/").slice(2, 3).join("/");
  const node = random.pick(nodes);
  try {
    const response = await fetch(`${node.url}/api/sessions${path}`, {
      headers: headersOf(token),
      signal: AbortSignal.timeout(waitMs),
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    });
    const answer = {
      node: node.name,
      status: response.status,
      body: (await response.json()) as Answer["body"],
    };
    ledger.add(
      `answer ${body === undefined ? "GET" : "POST"} /${route} ${answer.status} ${codeOfAnswer(answer)}`,
    );
    return answer;
  } catch {
    ledger.add("requests without an answer");
    return undefined;
  }
}

/** Sends it to one random node after the other. Undefined: the signal was aborted first. */
export async function ask(
  parts: RequestParts,
  path: string,
  options: { readonly body?: object; readonly waitMs?: number },
  over: AbortSignal,
): Promise<Answer | undefined> {
  while (!over.aborted) {
    const answer = await askOnce(parts, path, options);
    const isAgain =
      answer !== undefined && (AGAIN.has(answer.status) || AGAIN_CODES.has(codeOfAnswer(answer)));
    if (answer !== undefined && !isAgain) return answer;
    await pause(parts.random.between(LEAST_PAUSE_MS, MOST_PAUSE_MS));
  }
  return undefined;
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
