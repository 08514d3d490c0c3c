/**
 * The models of the random conversations: real ones, at an emulator's address.
 *
 * @module
 */

import { type Effort, type Model, openai } from "../../src/index.ts";
import type { ModelName } from "./conversation.ts";

/** The name of each model on the wire, its key, and how its endpoint departs from the usual. */
export const MODELS: Readonly<
  Record<ModelName, { readonly id: string; readonly key: string; readonly profile?: string }>
> = {
  home: { id: "emu-reasoner", key: "key-one" },
  other: { id: "emu-reasoner-two", key: "key-one" },
  account: { id: "emu-reasoner", key: "key-two" },
  plain: { id: "emu-plain", key: "key-one" },
  bound: { id: "emu-prefix-bound", key: "key-one", profile: "prefix-bound" },
  bare: { id: "emu-bare", key: "key-one", profile: "no-item-ids" },
};

export function practiceModel(name: ModelName, baseUrl: string, effort?: Effort): Model {
  const { id, key, profile } = MODELS[name];
  return openai(id, {
    baseUrl,
    apiKey: key,
    providerTools: ["web_search"],
    ...(profile === undefined ? {} : { profile }),
    ...(effort === undefined ? {} : { effort }),
  });
}
