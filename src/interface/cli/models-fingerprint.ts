/**
 * A short text that is the same for two servers exactly if sessions can move between them with their reasoning: the same
 * providers, addresses and accounts. Says nothing about a key but whether two are equal.
 */

import { createHash } from "node:crypto";

import { hasKey, PROVIDERS } from "../../runtime/models/index.ts";
import type { ConfigValues } from "../config/index.ts";
import { modelsOf, userProviders } from "./user-providers.ts";

export function modelsFingerprint(config: ConfigValues): string {
  const modelFrom = modelsOf(config);
  const names = [
    ...Object.values(PROVIDERS)
      .filter(hasKey)
      .map(({ name }) => name),
    ...Object.keys(userProviders(config)),
  ];
  const origins = [...new Set(names)].toSorted().map((name) => {
    try {
      const { provider, dialect, endpoint, credential } = modelFrom(`${name}/any`).settings.target;
      return [provider, dialect, endpoint, credential];
    } catch {
      return [name]; // not usable on this machine
    }
  });
  return createHash("sha256").update(JSON.stringify(origins)).digest("hex").slice(0, 12);
}
