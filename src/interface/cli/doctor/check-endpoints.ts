/** Checks that endpoints can be reached and that their clocks agree with ours. Sends one request without a key to each. */

import { addressProblem, messageOf } from "../../../base/support/index.ts";
import { type Provider, urlFromEnvironment } from "../../../runtime/models/index.ts";
import type { ConfigValues } from "../../config/index.ts";
import { usableProviders } from "./check-settings.ts";
import { bad, type Finding, ok } from "./finding.ts";

const PATIENCE_MS = 5000;
/** A larger difference can break signed requests and certificates. */
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
    return [bad("endpoints", `${name} has no usable base URL`, `set ${setting} to a valid URL`)];
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
    const fix = `check the network, the proxy and ${set === undefined ? "its baseUrl" : setting}`;
    return [bad("endpoints", `${where} cannot be reached: ${why}`, fix)];
  }
}

/** `fetch` reports only "fetch failed"; its cause says what happened. */
function reason(error: unknown): string {
  return error instanceof Error && error.cause !== undefined ? messageOf(error.cause) : messageOf(error);
}

function skew(where: string, date: string | null, now: number): readonly Finding[] {
  const theirs = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(theirs)) return [];
  const seconds = Math.round((now - theirs) / 1000);
  if (Math.abs(now - theirs) <= MOST_SKEW_MS) return [ok("clock", `differs by ${seconds} s from ${where}`)];
  const message = `this machine's clock differs by ${seconds} s from ${where}`;
  return [bad("clock", message, "set the clock, for example with NTP")];
}
