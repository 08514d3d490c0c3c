/** Lists the models of a server, if it has such a list. A server with a single model needs no `--model`. */

import {
  arrayOf,
  objectOf,
  stringOf,
  tryParseJson,
  messageOf,
  codedError,
} from "../../base/support/index.ts";
import { readText } from "../../runtime/wire/index.ts";
import type { EndpointOptions } from "./reply.ts";
import type { ConformOptions } from "./run.ts";

const MAX_LIST = 1024 * 1024;

/** Empty if the server does not list them. Rejects only if the caller's signal aborts. */
export async function listModels(
  options: Pick<ConformOptions, "baseUrl" | "apiKey"> & Pick<EndpointOptions, "timeoutMs" | "signal">,
): Promise<readonly string[]> {
  try {
    const response = await fetch(`${options.baseUrl.replace(/\/+$/, "")}/models`, {
      redirect: "manual", // a request with a key follows no redirect
      headers: options.apiKey === undefined ? {} : { authorization: `Bearer ${options.apiKey}` },
      signal: AbortSignal.any([options.signal, AbortSignal.timeout(options.timeoutMs)]),
    });
    const text = response.body === null ? "" : await readText(response.body, MAX_LIST);
    const list = arrayOf(objectOf(tryParseJson(text))["data"]);
    return list.flatMap((model) => stringOf(objectOf(model)["id"]) ?? []);
  } catch (error) {
    if (options.signal.aborted) throw error;
    throw codedError(
      "server_unreachable",
      `cannot reach ${options.baseUrl}: ${messageOf(error instanceof Error && error.cause !== undefined ? error.cause : error)}`,
    );
  }
}
