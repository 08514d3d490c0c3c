import { expect, test } from "vitest";

import { HOME, LogBuilder } from "../../../test/contracts/log-builder.ts";
import type { SessionHandle } from "../../base/api/index.ts";
import type { Decision } from "../../base/events/index.ts";
import { blocksOf } from "../fragments/index.ts";
import { UnsentThoughts } from "./unsent-thoughts.ts";

const log = new LogBuilder()
  .settings()
  .user("go")
  .respond({ items: [{ type: "reasoning" }, { type: "message", text: "so" }] });
const blocks = blocksOf(log.events, { writerAlive: false });
const thought: Decision = { seq: 3, type: "reasoning", action: "replay", reason: "same_origin", why: "" };
const left: Decision = { ...thought, action: "omit", reason: "compacted" };

/** A handle whose answers the test gives, one after another. */
function asked() {
  const open: ((answer: readonly Decision[] | Error) => void)[] = [];
  const handle = {
    model: { label: "a/b", settings: { target: HOME } },
    explain: () =>
      new Promise((resolve, reject) => {
        open.push((answer) => (answer instanceof Error ? reject(answer) : resolve(answer)));
      }),
  } as unknown as SessionHandle;
  let changes = 0;
  const unsent = new UnsentThoughts(handle, () => (changes += 1));
  const answer = async (with_: readonly Decision[] | Error): Promise<void> => {
    open.shift()?.(with_);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { unsent, open, answer, changes: () => changes };
}

test("one question is open at a time, and an outdated answer is dropped", async () => {
  const { unsent, open, answer, changes } = asked();
  const [end] = log.events.slice(-1);
  if (end === undefined) throw new Error("no event");
  const done = unsent.ask();
  unsent.saw({ type: "reset" });
  unsent.saw({ type: "reset" });
  expect(open).toHaveLength(1);
  await answer([left]);
  expect(unsent.marks.count(blocks)).toEqual({ total: 0, going: 0 });
  expect(open).toHaveLength(1);
  await answer([thought]);
  await done;
  expect(unsent.marks.count(blocks)).toEqual({ total: 1, going: 1 });
  expect([open.length, changes()]).toEqual([0, 1]);
  // A whole response changes nothing, a delta even less.
  unsent.saw(end);
  unsent.saw({ type: "text_delta", turn: "t", response: "r", outputIndex: 0, delta: "x" });
  expect(open).toHaveLength(0);
});

test("without an answer no thought has a mark, and the next question is asked all the same", async () => {
  const { unsent, answer } = asked();
  const first = unsent.ask();
  await answer(new Error("the server does not answer"));
  await first;
  expect(unsent.marks.count(blocks)).toEqual({ total: 0, going: 0 });
  const second = unsent.ask();
  await answer([left]);
  await second;
  expect(unsent.marks.count(blocks)).toEqual({ total: 1, going: 0 });
});
