/** The JSON Schema of the settings files, for editors: `throughline config schema` and docs/config.schema.json. */

import type { JsonObject } from "../../base/support/index.ts";
import { CONFIG_NAMES, keyOf } from "./config-keys.ts";

export function configSchema(): JsonObject {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Settings of Throughline",
    type: "object",
    additionalProperties: false,
    properties: {
      $schema: { type: "string" },
      ...Object.fromEntries(
        CONFIG_NAMES.map((name) => {
          const { about, kind, usual } = keyOf(name);
          return [
            name,
            { description: about, ...kind.schema, ...(usual === undefined ? {} : { default: usual }) },
          ];
        }),
      ),
    },
  };
}
