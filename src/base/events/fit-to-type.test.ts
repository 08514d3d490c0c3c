import { readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { isObject, type JsonObject } from "../support/index.ts";
import { parseLine } from "./line.ts";

const LOG = join(import.meta.dirname, "../../../test/fixtures/logs/v0.1.0/chat-openai.jsonl");

const SETTINGS: JsonObject = readFileSync(LOG, "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as JsonObject)
  .find(({ type }) => type === "settings") ?? { type: "no settings" };

function settingsWith(path: string, value: unknown): JsonObject {
  const change = (inner: unknown, [name = "", ...rest]: readonly string[]): JsonObject => {
    const whole = isObject(inner) ? inner : {};
    return { ...whole, [name]: rest.length === 0 ? value : change(whole[name], rest) };
  };
  return change(SETTINGS, ["settings", ...path.split(".")]);
}

function read(event: object): JsonObject {
  return parseLine(JSON.stringify(event)) as unknown as JsonObject;
}

function at(event: JsonObject, path: string): unknown {
  return ["settings", ...path.split(".")].reduce<unknown>(
    (inner, name) => (isObject(inner) ? inner[name] : undefined),
    event,
  );
}

describe("settings that an earlier version logged unchecked are readable", () => {
  test.for([
    "system",
    "effort",
    "foreign",
    "maxOutputTokens",
    "capabilities.contextTokens",
    "capabilities.thinking",
    "profile.patienceMs",
    "profile.maxItemIdLength",
    "profile.maxCallIdLength",
    "profile.evidence",
    "profile.sendStore",
  ])("%s: null counts as absent", (path) => {
    expect(at(read(settingsWith(path, null)), path)).toBeUndefined();
  });

  test("a count of kept thoughts without an end keeps all", () => {
    expect(at(read(settingsWith("replay", { maxItems: null })), "replay")).toBe("all");
  });

  test("a tool without description and strict, as it was sent", () => {
    const tools = [{ name: "look", parameters: { type: "object", default: null } }];
    expect(at(read(settingsWith("tools", tools)), "tools")).toEqual(tools);
  });

  test("null stays where it is free JSON", () => {
    const event = settingsWith("parameters", { stop: null, metadata: { a: null } });
    const both = { ...event, settings: { ...(event["settings"] as JsonObject), system: null } };
    expect(at(read(both), "parameters")).toEqual({ stop: null, metadata: { a: null } });
  });

  test("but not those without a model", () => {
    expect(() => read(settingsWith("target.model", null))).toThrow("settings.target.model is not a string");
  });
});

test("a reference to a later event stays damage, even if another field fits only by its meaning", () => {
  const branch = {
    v: 1,
    seq: 3,
    id: "ev_3",
    at: "t",
    epoch: 1,
    turn: null,
    type: "branch",
    to: 9,
    why: "undo",
  };
  expect(() => read(branch)).toThrow("branch: to is 9, which is not an earlier event");
});

describe("what a permission function returned in an earlier version", () => {
  const EVENT = {
    v: 1,
    seq: 3,
    id: "ev_3",
    at: "2026-01-01T00:00:00.000Z",
    epoch: 1,
    turn: "tn_1",
    response: "rsp_1",
    type: "permission_decision",
    callId: "call_1",
    by: "function",
    argumentsHash: "ab",
  };

  test.for([[null], [7], [{ why: "no" }], [["no"]]])(
    "a reason that is no text is left out: %j",
    ([reason]) => {
      expect(read({ ...EVENT, decision: "deny", reason })).toEqual({ ...EVENT, decision: "deny" });
    },
  );

  test.for([[null], [true], ["yes"]])("an unknown decision was a denial: %j", ([decision]) => {
    expect(read({ ...EVENT, decision, reason: "because" })).toEqual({ ...EVENT, reason: "because" });
  });

  test("a person's decision is never guessed", () => {
    expect(() => read({ ...EVENT, by: "person", decision: "yes" })).toThrow('decision is "yes"');
  });
});
