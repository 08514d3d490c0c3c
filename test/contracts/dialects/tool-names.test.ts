/** Only a mapped name (T15) differs from the provider's text; abroad it is the same name. */

import { expect, test } from "vitest";

import { sendableToolName } from "../../../src/base/support/index.ts";
import { explain } from "../../../src/runtime/fold/index.ts";
import { groupLog, settingsOf as practiceSettings } from "../../support/group-log.ts";
import { bodyText, renderNext } from "../../support/next-request.ts";
import { settingsOf, SpokenLog } from "./spoken-log.ts";

const NAME = "functions.bump";
const SENT = sendableToolName(NAME, () => false);

test.each([
  `{"id":"fc_1","type":"function_call","status":"completed","arguments":"{ \\"by\\": 1.0 }","call_id":"call_1","name":"${NAME}","namespace":"a.b"}`,
  `{"id":"ctc_1","type":"custom_tool_call","status":"completed","call_id":"call_1","input":"a  b","name":"${NAME}"}`,
  `{"id":"fc_1","type":"function_call","status":"completed","arguments":"{}","call_id":"call_1","name":"functions\\u002ebump"}`,
])("Responses: %s", (item) => {
  const log = groupLog([item]);
  const home = bodyText(renderNext(log, practiceSettings("home")));
  expect(home).toContain(item.replace(/functions(?:\.|\\u002e)bump/, SENT));
  const abroad = bodyText(renderNext(log, practiceSettings("other")));
  expect(abroad).toContain(`"name":"${SENT}"`);
  expect(home + abroad).not.toContain(NAME);
});

test("Responses: a name that can be sent keeps its exact text", () => {
  const item = `{"id":"fc_1","type":"function_call","status":"completed","arguments":"{}","call_id":"call_1","name":"b\\u0075mp"}`;
  expect(bodyText(renderNext(groupLog([item]), practiceSettings("home")))).toContain(item);
});

test.each(["anthropic", "deepseek"] as const)(
  "%s: the arguments and everything else stay unchanged",
  (profile) => {
    const settings = settingsOf(profile);
    const answer = (name: string): string =>
      Buffer.concat(
        new SpokenLog()
          .user("Go.")
          .answer(settings, {
            pieces: [{ kind: "call", id: "call_1", name, arguments: '{ "by": 1.0 }' }],
            ending: "calls",
          })
          .render(settings).body,
      ).toString("utf8");
    expect(answer(NAME)).toBe(answer("bump").replace('"bump"', `"${SENT}"`));
  },
);

test("explain says which name a call is sent under", () => {
  const settings = settingsOf("anthropic");
  const log = new SpokenLog().user("Go.").answer(settings, {
    pieces: [{ kind: "call", id: "call_1", name: NAME, arguments: "{}" }],
    ending: "calls",
  });
  const why = explain(log.events, log.plan(settings).entries).map((one) => one.why);
  expect(why).toContain(`its own origin; its tool name is sent as ${SENT}`);
});
