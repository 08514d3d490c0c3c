/** Where a request goes. Upstreams come from the settings, never from a request. */

import type { Dialect } from "../../base/events/index.ts";
import { addressProblem, codedError, didYouMean } from "../../base/support/index.ts";
import { type Profile, profileFor, PROFILES } from "../../runtime/providers/index.ts";
import type { Target } from "../restore/index.ts";

/** An upstream and the name under which clients reach it. */
export interface Route {
  readonly name: string;
  readonly url: URL;
  /** Profiles of this address, one for each dialect it is known to speak. */
  readonly profiles: readonly Profile[];
}

/** An address, and a profile if the user names one: `URL[,profile=NAME]`. */
export function routeFrom(name: string, text: string, known: readonly Route[] = []): Route {
  const [address = "", ...options] = text.split(",");
  const problem = addressProblem(address);
  if (problem !== undefined) throw codedError("base_url_invalid", `the address of ${name} ${problem}`);
  const url = new URL(address);
  const profiles = options.map((option) => profileNamed(name, option));
  if (profiles.length > 0) return { name, url, profiles };
  const same = known.find((one) => one.url.host === url.host);
  return { name, url, profiles: same?.profiles ?? [] };
}

function profileNamed(route: string, option: string): Profile {
  const [key, value = ""] = option.split("=");
  if (key !== "profile")
    throw codedError("usage", `unknown setting "${key ?? ""}" of the route ${route}; write URL,profile=NAME`);
  const profile = Object.hasOwn(PROFILES, value) ? PROFILES[value] : undefined;
  if (profile !== undefined) return profile;
  const names = Object.keys(PROFILES);
  throw codedError(
    "profile_unknown",
    `unknown profile "${value}"; use one of ${names.join(", ")}${didYouMean(value, names)}`,
  );
}

/** The dialect of a request, told by its method and the end of its path. Anything else is piped through unread. */
export function dialectOf(method: string, path: string): Dialect | undefined {
  if (method !== "POST") return undefined;
  const bare = path.split("?", 1)[0] ?? "";
  if (bare.endsWith("/responses")) return "openai-responses";
  if (bare.endsWith("/chat/completions")) return "openai-chat";
  return bare.endsWith("/messages") ? "anthropic-messages" : undefined;
}

const GENERIC: Readonly<Record<Dialect, string>> = {
  "openai-responses": "openai",
  "anthropic-messages": "anthropic",
  "openai-chat": "local",
};

/** A server of this machine gets back what it issued; of another unknown address too little is known. */
export function targetOf({ url, profiles }: Route, dialect: Dialect, model: string): Target {
  const own = profiles.find((profile) => profile.dialect === dialect);
  if (own !== undefined) return { profile: profileFor(own, model), putsBack: "profile" };
  const generic = PROFILES[GENERIC[dialect]] as Profile;
  return { profile: profileFor(generic, model), putsBack: isLocal(url) ? "own" : "nothing" };
}

function isLocal({ hostname }: URL): boolean {
  return hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.");
}

/** The path at the upstream: what follows the name of the route, after the path of its address. */
export function upstreamPath({ url }: Route, rest: string): string {
  const base = url.pathname.endsWith("/") ? url.pathname.slice(0, -1) : url.pathname;
  return `${base}${rest.startsWith("/") || base !== "" ? "" : "/"}${rest}`;
}

/** The names of our vendors for chat histories, by profile. */
const VENDORS: Readonly<Record<string, string>> = {
  "openai-chat": "openai",
  deepseek: "deepseek",
  "deepseek-old": "deepseek-old",
  moonshot: "kimi",
  mistral: "mistral",
  groq: "groq",
  openrouter: "openrouter",
};

/** Undefined if the model's name must tell. */
export function vendorOf({ profile, putsBack }: Target): string | undefined {
  return putsBack === "profile" ? VENDORS[profile.name] : undefined;
}
