/**
 * Whether endpoints can be reached, and whether their clock agrees with ours. One request without a key each; any answer
 * at all is good news.
 */

import { addressProblem, messageOf } from "../../../base/support/index.ts";
import { type Provider, urlFromEnvironment } from "../../../runtime/models/index.ts";
import type { ConfigValues } from "../../config/index.ts";
import { usableProviders } from "./check-settings.ts";
import { bad, type Finding, ok } from "./finding.ts";

const PATIENCE_MS = 5000;
/** Signed requests and certificates stop working somewhere beyond this. */
const MOST_SKEW_MS = 5 * 60_000;

export async function checkEndpoints(config: ConfigValues, signal: AbortSignal): Promise<readonly Finding[]> {
  const providers = usableProviders(config);
  return (await Promise.all(providers.map((provider) => checkEndpoint(provider, signal)))).flat();
}

async function checkEndpoint(provider: Provider, signal: AbortSignal): Promise<readonly Finding[]> {
  const { name, baseUrl, baseUrlVariable } = provider;
  const set = urlFromEnvironment(provider);
  const text = set ?? baseUrl;
  const setting = baseUrlVariable ?? "its baseUrl";
  if (text === undefined || !URL.canParse(text))
    return [bad("endpoints", `${name} has no usable base URL`, `set ${setting} to one`)];
  const problem = addressProblem(text);
  if (problem !== undefined)
    return [bad("endpoints", `the base URL of ${name} ${problem}`, `set ${setting} without it`)];
  const url = new URL(text);
  const where = `${name} at ${url.protocol}//${url.host}`;
  try {
    const response = await fetch(`${url.protocol}//${url.host}${url.pathname}`, {
      method: "HEAD",
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]),
    });
    return [ok("endpoints", `${where} answers`), ...skew(where, response.headers.get("date"), Date.now())];
  } catch (error) {
    const why = error instanceof Error && error.name === "TimeoutError" ? "no answer in 5 s" : reason(error);
    const fix = `look at the network, the proxy and ${set === undefined ? "its baseUrl" : setting}`;
    return [bad("endpoints", `${where} cannot be reached: ${why}`, fix)];
  }
}

/** fetch hides what happened behind "fetch failed". */
function reason(error: unknown): string {
  return error instanceof Error && error.cause !== undefined ? messageOf(error.cause) : messageOf(error);
}

function skew(where: string, date: string | null, now: number): readonly Finding[] {
  const theirs = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(theirs)) return [];
  const seconds = Math.round((now - theirs) / 1000);
  if (Math.abs(now - theirs) <= MOST_SKEW_MS) return [ok("clock", `${seconds} s apart from ${where}`)];
  const message = `this machine's clock is ${seconds} s apart from ${where}`;
  return [bad("clock", message, "set the clock, for example by NTP")];
}
