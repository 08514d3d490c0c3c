import { expect, test } from "vitest";

import { serverResult, serverUse, text } from "../../../test/failures/claude-harness.ts";
import { ClaudeLog } from "../../../test/failures/claude-log.ts";
import type { LoggedEvent } from "../../base/events/index.ts";
import { Fold } from "../fold/index.ts";
import { contextUse, isFull } from "./context-use.ts";

const search = [serverUse("srvtoolu_1", "web_search"), serverResult("srvtoolu_1", "web_search_tool_result")];
const SUM = { input_tokens: 950_648, output_tokens: 5 };

function foldOf(events: readonly LoggedEvent[]): Fold {
  const fold = new Fold();
  fold.add(events);
  return fold;
}

/** Usage as reported by a dialect with only one count. */
function withoutPasses(events: readonly LoggedEvent[]): readonly LoggedEvent[] {
  return events.map((event) =>
    event.type === "response_end" && event.usage !== undefined
      ? { ...event, usage: { ...event.usage, contextTokens: undefined } }
      : event,
  );
}

test("a sum over several passes of a server is not mistaken for the context", () => {
  const log = new ClaudeLog()
    .user()
    .answer([text("Hi.")])
    .user()
    .answer([...search, text("Found.")], { usage: SUM });
  const fold = foldOf(log.events);
  expect(contextUse(fold, 1_000_000)).toEqual({ usedTokens: 15, contextTokens: 1_000_000, fraction: 15e-6 });
  expect(isFull(fold, 1_000_000, 0.85)).toBe(false);
});

test("a sum larger than the context is ignored, and the answer before counts", () => {
  const log = new ClaudeLog()
    .user()
    .answer([text("Hi.")], { usage: { input_tokens: 100 } })
    .user()
    .answer([...search, text("Found.")], { usage: SUM });
  const fold = foldOf(withoutPasses(log.events));
  expect(contextUse(fold, 400_000)?.usedTokens).toBe(105);
  expect(contextUse(fold, 1_000_000)?.usedTokens).toBe(950_653);
  expect(isFull(fold, 400_000, 0.85)).toBe(false);
});

test("an answer without provider tools is believed, whatever it counts", () => {
  const log = new ClaudeLog().user().answer([text("Hi.")], { usage: SUM });
  expect(contextUse(foldOf(log.events), 400_000)?.usedTokens).toBe(950_653);
});
