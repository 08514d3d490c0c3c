import { describe, expect, test } from "vitest";

import { HOSTED_ITEMS } from "../../wire/index.ts";
import { itemDraft } from "./item-draft.ts";

const draftOf = (item: object): unknown => itemDraft(JSON.stringify(item), 3);

const deep = (levels: number): string => `{"type":"x","a":${"[".repeat(levels)}${"]".repeat(levels)}}`;

describe("itemDraft", () => {
  test("keeps the exact text of an item, on one line", () => {
    const text = '{"type":"reasoning",\n "id":"rs_1","n":12345678901234567890,"s":"a\u2028b"}';
    expect(itemDraft(text, 0).item).toBe(
      '{"type":"reasoning",  "id":"rs_1","n":12345678901234567890,"s":"a\\u2028b"}',
    );
  });

  test("reads a thought: summaries, then texts, and whether it has a payload", () => {
    const item = {
      id: "rs_1",
      type: "reasoning",
      summary: [{ type: "summary_text", text: "s1" }, { type: "summary_text", text: "s2" }, 7],
      content: [{ type: "reasoning_text", text: "t" }, { type: "reasoning_text" }],
      encrypted_content: "gAAA",
    };
    expect(draftOf(item)).toEqual({
      type: "reasoning",
      outputIndex: 3,
      itemType: "reasoning",
      itemId: "rs_1",
      item: JSON.stringify(item),
      opaque: true,
      parts: [
        { kind: "summary", text: "s1" },
        { kind: "summary", text: "s2" },
        { kind: "text", text: "t" },
      ],
    });
  });

  test.each([{}, { encrypted_content: null }, { encrypted_content: "" }])(
    "finds no payload in a thought with %j",
    (more) => {
      expect(draftOf({ type: "reasoning", ...more })).toMatchObject({ opaque: false, parts: [] });
    },
  );

  test("reads a message: its joined text, its refusal, its phase", () => {
    const content = [
      { type: "output_text", text: "a" },
      { type: "refusal", refusal: "no" },
      { type: "output_text", text: "b" },
      "odd",
    ];
    expect(draftOf({ id: "msg_1", type: "message", phase: "commentary", content })).toMatchObject({
      type: "assistant_message",
      text: "ab",
      refusal: "no",
      phase: "commentary",
    });
    expect(draftOf({ type: "message", content: [] })).toEqual({
      type: "assistant_message",
      outputIndex: 3,
      itemType: "message",
      item: '{"type":"message","content":[]}',
      text: "",
    });
  });

  test("reads a call and a custom call with the exact text the model wrote", () => {
    expect(
      draftOf({ id: "fc_1", type: "function_call", call_id: "c", name: "f", arguments: '{"a": 1' }),
    ).toMatchObject({ type: "tool_call", callId: "c", name: "f", arguments: '{"a": 1' });
    expect(
      draftOf({ id: "ctc_1", type: "custom_tool_call", call_id: "c", name: "f", input: "ls" }),
    ).toMatchObject({
      type: "tool_call",
      arguments: "ls",
      custom: true,
    });
    expect(draftOf({ type: "function_call" })).toMatchObject({ callId: "", name: "", arguments: "" });
  });

  test.each([...HOSTED_ITEMS])("treats %s as run by the provider", (type) => {
    const environment = { type: "container_reference", container_id: "cntr_1" };
    expect(draftOf({ type, id: "x_1", environment })).toMatchObject({
      type: "hosted_item",
      itemType: type,
      itemId: "x_1",
    });
  });

  test("keeps an unknown item as another item", () => {
    expect(draftOf({ type: "brand_new", id: "bn_1" })).toMatchObject({
      type: "other_item",
      itemType: "brand_new",
    });
    expect(draftOf({ id: "x" })).toMatchObject({ type: "other_item", itemType: "unknown" });
  });

  test.each([{ id: "" }, { id: null }, { id: 7 }, {}])("ignores the id of %j", (more) => {
    expect(draftOf({ type: "message", content: [], ...more })).not.toHaveProperty("itemId");
  });

  test("uses the last of repeated keys, as JSON.parse does", () => {
    expect(itemDraft('{"type":"message","type":"reasoning","id":"a","id":"rs_1"}', 0)).toMatchObject({
      type: "reasoning",
      itemId: "rs_1",
    });
  });

  test("refuses an item that is nested too deep instead of storing it", () => {
    expect(itemDraft(deep(127), 0).type).toBe("other_item");
    expect(() => itemDraft(deep(128), 0)).toThrow(expect.objectContaining({ code: "bad_event" }));
  });
});
