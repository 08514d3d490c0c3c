/**
 * Says once per session that a tool was denied only because neither it nor the agent says what is allowed. Otherwise only
 * the model would learn of it.
 */

import { type EventDraft, eventsWhere } from "../../base/events/index.ts";
import { deniedByDefaultAdvice, isAccessByDefault, TOOL_DENIED_BY_DEFAULT } from "../tools/index.ts";
import type { TurnContext } from "./context.ts";

export function deniedByDefault(
  { live, tools, turn, permissions }: TurnContext,
  name: string,
): readonly EventDraft[] {
  const tool = tools.find((one) => one.name === name);
  if (!permissions.byDefault || tool === undefined || !isAccessByDefault(tool)) return [];
  const said = eventsWhere(live.log.events, ({ type }) => type === "notice").some(
    (event) => event.type === "notice" && event.code === TOOL_DENIED_BY_DEFAULT,
  );
  const message = `the tool "${name}" was denied by default: ${deniedByDefaultAdvice}`;
  return said ? [] : [{ type: "notice", turn, code: TOOL_DENIED_BY_DEFAULT, message }];
}
