import { expect, test } from "vitest";

import { startEmulator } from "../../src/emulator/index.ts";
import { createAgent } from "../../src/index.ts";
import { type Close, groupLog, settingsOf } from "../support/group-log.ts";
import { instantClock } from "../support/instant-clock.ts";
import { bodyText, renderNext } from "../support/next-request.ts";
import { practiceModel } from "../support/practice-models.ts";
import { inputTexts, memberOf } from "../support/request-body.ts";

const ITEMS = [
  '{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"gAAA"}',
  '{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","annotations":[],"text":"Look:"}]}',
  '{"id":"fc_1","type":"function_call","status":"completed","name":"get_weather","call_id":"call_1","arguments":"{}"}',
];

function sent(items: readonly string[], close: Close): readonly unknown[] {
  return inputTexts(bodyText(renderNext(groupLog(items, close), settingsOf("home"))))
    .slice(1)
    .map((text) => {
      const known = ["type", "id", "output"].map((name) => memberOf(text, name));
      return known.filter((value) => typeof value === "string").join(" ");
    });
}

test("law 3: a completed response is replayed whole", () => {
  expect(sent(ITEMS, "completed")).toEqual([
    "reasoning rs_1",
    "message msg_1",
    "function_call fc_1",
    "function_call_output not executed: the turn was interrupted before this tool ran",
  ]);
});

test("law 3: an incomplete response sends its finished messages and calls as plain meaning, and omits its reasoning", () => {
  expect(sent(ITEMS, "incomplete")).toEqual([
    "message",
    "function_call",
    "function_call_output not executed: the response was cut off",
  ]);
});

test.each<Close>(["failed", "cancelled", "cut", "never"])(
  "law 3: a %s response sends nothing, however finished its items look",
  (close) => {
    expect(sent(ITEMS, close)).toEqual([]);
  },
);

test("law 3: reasoning is not sent when the item after it is not sent", () => {
  expect(sent(ITEMS.slice(0, 1), "completed")).toEqual([]);
});

test("law 3: a stream without a terminal event counts as cut, however complete it looks, and is requested again", async () => {
  const emulator = await startEmulator({ faults: [{ type: "no-terminal" }] });
  try {
    const model = practiceModel("home", emulator.baseUrl);
    const session = await createAgent({ model, clock: instantClock() }).open({ id: "s" });
    const { status } = await session.send("Thanks").result();
    await session.send("Thanks again").result();
    const ends: unknown[] = [];
    for await (const event of session.events()) if (event.type === "response_end") ends.push(event.status);
    const sentIds = inputTexts(emulator.exchanges.at(-1)?.requestText ?? "").flatMap(
      (text) => memberOf(text, "id") ?? [],
    );
    const [cut, whole] = emulator.exchanges.map(({ events }) =>
      events.flatMap((event) =>
        event["type"] === "response.output_item.done" ? [(event["item"] as { readonly id: string }).id] : [],
      ),
    );
    expect({ status, ends, sentIds }).toEqual({
      status: "completed",
      ends: ["cut", "completed", "completed"],
      sentIds: whole,
    });
    expect(cut).toHaveLength(2);
  } finally {
    await emulator.close();
  }
});
