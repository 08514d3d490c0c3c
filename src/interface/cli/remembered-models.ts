/** Creates each model once, because every built-in emulator is its own server and a switch back must find the same one. */

import type { Model } from "../../runtime/providers/index.ts";

/** Returns the same model for the same name. */
export function remembered(modelFrom: (name: string) => Model): (name: string) => Model {
  const known = new Map<string, Model>();
  return (name) => {
    const model = known.get(name) ?? modelFrom(name);
    known.set(name, model);
    return model;
  };
}
