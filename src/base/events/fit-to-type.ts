/**
 * Reads the plain meaning of an event that does not match its type. A caller in JavaScript passes `null` for an absent
 * option, `Infinity` is `null` in JSON, and a permission function may return anything. Earlier versions wrote such
 * events unchecked, and their sessions must stay readable.
 */

import { isObject, type JsonObject } from "../support/index.ts";

export function fitToType(event: JsonObject): JsonObject {
  const fitted = withoutNulls(event);
  switch (fitted["type"]) {
    case "settings":
      return { ...fitted, settings: fitSettings(fitted["settings"]) };
    case "permission_decision":
      return fitted["by"] === "function" ? fitDecision(fitted) : fitted;
    default:
      return fitted;
  }
}

/** Free JSON, in which null has its own meaning. */
const FREE: ReadonlySet<string> = new Set(["item", "late", "parameters", "schema"]);

function withoutNulls(value: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, field]) => field !== null && !(typeof field === "number" && !Number.isFinite(field)))
      .map(([name, field]) => [name, isObject(field) && !FREE.has(name) ? withoutNulls(field) : field]),
  );
}

/** An absent `maxItems` (`Infinity`) keeps everything. */
function fitSettings(settings: unknown): unknown {
  if (!isObject(settings)) return settings;
  const { replay } = settings;
  return isObject(replay) && replay["maxItems"] === undefined ? { ...settings, replay: "all" } : settings;
}

/** Only "allow" ever allowed a call. Without a decision, it was denied. */
function fitDecision({ decision, reason, ...rest }: JsonObject): JsonObject {
  return {
    ...rest,
    ...(decision === "allow" || decision === "deny" ? { decision } : {}),
    ...(typeof reason === "string" ? { reason } : {}),
  };
}
