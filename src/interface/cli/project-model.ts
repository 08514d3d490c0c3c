/** Finds a model by name in this directory's settings, for commands that preview a request. */

import type { Model } from "../../runtime/providers/index.ts";
import { loadConfig } from "../config/index.ts";
import { modelsOf } from "./user-providers.ts";

export function modelNamed(name: string | undefined): Model | undefined {
  return name === undefined ? undefined : modelsOf(loadConfig(process.cwd()).values)(name);
}
