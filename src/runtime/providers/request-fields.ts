/** Request fields that every dialect handles the same way. */

import type { Settings } from "../../base/events/index.ts";
import type { JsonObject } from "../../base/support/index.ts";
import type { Plan } from "../fold/index.ts";
import type { Tail } from "./growing-request.ts";
import type { Remark } from "./provider.ts";

/** Drops keys whose value is undefined. */
export function definedOnly(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Request-level fields that this origin has refused. */
export function refusedFields(plan: Plan): readonly string[] {
  return plan.strip.filter((one) => one.itemType === undefined).map((one) => one.field);
}

/** Parameters set by the user, except those the dialect determines. */
export function freeParameters({ parameters }: Settings, fixed: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => !fixed.has(name)));
}

/** Opens the body: everything before the growing list named `list`, which comes last. */
export function openBody(body: Record<string, unknown>, refused: Iterable<string>, list: string): string {
  for (const field of refused) delete body[field];
  return `${JSON.stringify(body).slice(0, -1)},"${list}":[`;
}

/** Closes the body: everything after the list. */
export function closeBody(fields: Readonly<Record<string, unknown>>, remarks: readonly Remark[]): Tail {
  const rest = JSON.stringify(fields).slice(1);
  return { text: rest === "}" ? "]}" : `],${rest}`, remarks };
}
