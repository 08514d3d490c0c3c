/**
 * A model by its name as this directory's settings know it, for commands that look at what it would be sent.
 */

import type { Model } from "../../runtime/providers/index.ts";
import { loadConfig } from "../config/index.ts";
import { modelsOf } from "./user-providers.ts";

export function modelNamed(name: string | undefined): Model | undefined {
  return name === undefined ? undefined : modelsOf(loadConfig(process.cwd()).values)(name);
}
