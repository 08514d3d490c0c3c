/** Lists the models of a server, if it has such a list. A server with a single model needs no `--model`. */

import {
  arrayOf,
  objectOf,
  stringOf,
  tryParseJson,
  codeOf,
  isThroughlineError,
  messageOf,
  codedError,
} from "../../base/support/index.ts";
import { readText } from "../../runtime/wire/index.ts";
import type { EndpointOptions } from "./reply.ts";
import type { ConformOptions } from "./run.ts";

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there; is the server running?",
  ENOTFOUND: "there is no such host",
  EAI_AGAIN: "the name of the host cannot be resolved now",
  ETIMEDOUT: "the server does not answer",
  EHOSTUNREACH: "there is no route to the host",
  ENETUNREACH: "there is no route to the host",
  ECONNRESET: "the server closed the connection",
};

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  if (messageOf(cause) === "bad port") return "the port is reserved for another service";
  return REASONS[codeOf(cause) ?? ""] ?? messageOf(cause);
}

const MAX_LIST = 1024 * 1024;

/** Empty if the server does not list them. Rejects if it cannot be reached or refuses the key, and on the caller's signal. */
export async function listModels(
  options: Pick<ConformOptions, "baseUrl" | "apiKey"> & Pick<EndpointOptions, "timeoutMs" | "signal">,
): Promise<readonly string[]> {
  try {
    const response = await fetch(`${options.baseUrl.replace(/\/+$/, "")}/models`, {
      redirect: "manual", // a request with a key follows no redirect
      headers: options.apiKey === undefined ? {} : { authorization: `Bearer ${options.apiKey}` },
      signal: AbortSignal.any([options.signal, AbortSignal.timeout(options.timeoutMs)]),
    });
    if (response.status === 401 || response.status === 403)
      throw codedError("api_key_refused", `the server refuses to list its models: HTTP ${response.status}`);
    const text = response.body === null ? "" : await readText(response.body, MAX_LIST);
    const list = arrayOf(objectOf(tryParseJson(text))["data"]);
    return list.flatMap((model) => stringOf(objectOf(model)["id"]) ?? []);
  } catch (error) {
    if (options.signal.aborted) throw error;
    if (isThroughlineError(error)) throw error;
    throw codedError("server_unreachable", `cannot reach ${options.baseUrl}: ${reasonOf(error)}`, error);
  }
}
