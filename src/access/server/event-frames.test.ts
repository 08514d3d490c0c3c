import { expect, test } from "vitest";

import type { SessionEvent } from "../../base/events/index.ts";
import { sharedFrames } from "./event-frames.ts";

/** A delta that counts how often it is serialized. */
function counted(text: string, counts: { written: number }): SessionEvent {
  const event = { type: "text_delta", turn: "t", response: "r", outputIndex: 0, part: 0 };
  Object.defineProperty(event, "text", {
    enumerable: true,
    get() {
      counts.written += 1;
      return text;
    },
  });
  return event as unknown as SessionEvent;
}

test("a batch is serialized once, however many clients follow the session", () => {
  const counts = { written: 0 };
  const batch = ["one", "two", "three"].map((text) => counted(text, counts));
  const all = Array.from({ length: 200 }, () => sharedFrames(batch));
  expect(counts.written).toBe(3);
  expect(new Set(all).size).toBe(1);
  expect(all[0]?.toString()).toBe(
    ["one", "two", "three"]
      .map(
        (text) =>
          `data: {"type":"text_delta","turn":"t","response":"r","outputIndex":0,"part":0,"text":"${text}"}\n\n`,
      )
      .join(""),
  );
});
