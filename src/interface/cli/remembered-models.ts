/**
 * Models that are made once: the built-in emulator is a server of its own, and switching back is going home.
 */

import type { Model } from "../../runtime/providers/index.ts";

/** The same name is the same model. */
export function remembered(modelFrom: (name: string) => Model): (name: string) => Model {
  const known = new Map<string, Model>();
  return (name) => {
    const model = known.get(name) ?? modelFrom(name);
    known.set(name, model);
    return model;
  };
}
