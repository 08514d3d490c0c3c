/** What the fields of a request have in common in every dialect. */

import type { Settings } from "../../base/events/index.ts";
import type { JsonObject } from "../../base/support/index.ts";
import type { Plan } from "../fold/index.ts";
import type { Tail } from "./growing-request.ts";
import type { Remark } from "./provider.ts";

/** A key that is not set is not sent. */
export function definedOnly(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Fields of the request itself that this origin has refused. */
export function refusedFields(plan: Plan): readonly string[] {
  return plan.strip.filter((one) => one.itemType === undefined).map((one) => one.field);
}

/** What a user sets and the dialect does not decide. */
export function freeParameters({ parameters }: Settings, fixed: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => !fixed.has(name)));
}

/** All that stands before the list named `list`, which grows and is last. */
export function openBody(body: Record<string, unknown>, refused: Iterable<string>, list: string): string {
  for (const field of refused) delete body[field];
  return `${JSON.stringify(body).slice(0, -1)},"${list}":[`;
}

/** What stands behind it. */
export function closeBody(fields: Readonly<Record<string, unknown>>, remarks: readonly Remark[]): Tail {
  const rest = JSON.stringify(fields).slice(1);
  return { text: rest === "}" ? "]}" : `],${rest}`, remarks };
}
