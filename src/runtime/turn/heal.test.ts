import { expect, test } from "vitest";

import type { ErrorInfo, Origin } from "../../base/events/index.ts";
import { healingOf } from "./heal.ts";

const target: Origin = {
  provider: "anthropic",
  dialect: "anthropic-messages",
  model: "claude-sonnet-5",
  endpoint: "https://api.anthropic.com",
  credential: "k",
};

const rendered = {
  body: [],
  bodyHash: "",
  prefixHash: "",
  entries: [],
  leftOut: [],
  sources: [],
  violations: [],
  remarks: [],
};

const told = (error: ErrorInfo): unknown =>
  healingOf({ error: { ...error, class: "PREFILL" }, rendered, target }, 0)?.find(
    (draft) => draft.type === "notice",
  )?.message;

test("a notice says who stopped a request: the provider, or our own check and which rule", () => {
  expect(told({ code: "invalid_request_error", message: "must end with a user message" })).toBe(
    "anthropic/claude-sonnet-5 refused the request (must end with a user message); sent again with a message that asks it to go on",
  );
  expect(told({ code: "rule_violation", message: "not sent, rule M10: must end with a user message" })).toBe(
    "our own check stopped the request (not sent, rule M10: must end with a user message); sent again with a message that asks it to go on",
  );
});
