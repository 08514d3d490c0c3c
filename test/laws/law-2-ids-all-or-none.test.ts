import { expect, test } from "vitest";

import { groupLog, settingsOf } from "../support/group-log.ts";
import { bodyText, renderNext } from "../support/next-request.ts";
import { inputTexts, memberOf } from "../support/request-body.ts";

const reasoning = (id: string): string =>
  `{"id":${JSON.stringify(id)},"type":"reasoning","summary":[],"encrypted_content":"gAAA"}`;
const message = (id: string): string =>
  `{"id":${JSON.stringify(id)},"type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","annotations":[],"text":"Hi"}]}`;

function sent(items: readonly string[]): readonly (readonly [unknown, unknown])[] {
  return inputTexts(bodyText(renderNext(groupLog(items), settingsOf("home"))))
    .slice(1)
    .map((text) => [memberOf(text, "type"), memberOf(text, "id")]);
}

test("law 2: a whole group is sent with all its own ids", () => {
  expect(sent([reasoning("rs_1"), message("msg_1")])).toEqual([
    ["reasoning", "rs_1"],
    ["message", "msg_1"],
  ]);
});

test.each([
  ["an item of an unknown type", ['{"id":"x_1","type":"surprise_call"}']],
  [
    "a hosted item that cannot be replayed",
    ['{"id":"ig_1","type":"image_generation_call","status":"completed"}'],
  ],
  ["an empty message", ['{"id":"msg_0","type":"message","role":"assistant","content":[]}']],
])("law 2: a group with %s is sent without ids and without its reasoning", (_, between) => {
  expect(sent([reasoning("rs_1"), ...between, message("msg_1")])).toEqual([["message", undefined]]);
});

test.each([
  ["too long", "msg_".padEnd(65, "x")],
  ["of another type", "fc_1"],
  ["with forbidden characters", "msg 1"],
  ["that another item already uses", "rs_1"],
])("law 2: an id %s is not rewritten: the group is sent without ids and without its reasoning", (_, id) => {
  expect(sent([reasoning("rs_1"), message(id)])).toEqual([["message", undefined]]);
});
