import { describe, expect, test } from "vitest";

import { PROFILES } from "./profiles.ts";
import { createResponsesModel, type ResponsesModelOptions } from "./responses-model.ts";

const options: ResponsesModelOptions = {
  provider: "openai",
  model: "gpt-5.6",
  profile: "openai",
  endpointName: "https://a.test/v1",
  baseUrl: async () => "https://a.test/v1",
  apiKey: "sk-first-key",
  keyName: "SOME_KEY",
};

const credential = (apiKey: ResponsesModelOptions["apiKey"]): string =>
  createResponsesModel({ ...options, apiKey }).settings.target.credential;

describe("createResponsesModel", () => {
  test("says where an item made by it comes from, and never the key", () => {
    const { label, settings } = createResponsesModel(options);
    expect(label).toBe("openai/gpt-5.6");
    expect(settings.target).toEqual({
      provider: "openai",
      dialect: "openai-responses",
      model: "gpt-5.6",
      endpoint: "https://a.test/v1",
      credential: expect.stringMatching(/^[0-9a-f]{12}$/),
    });
    expect(JSON.stringify(settings)).not.toContain("sk-first-key");
  });

  test("another key is another credential, the same key the same one", () => {
    expect(credential("sk-first-key")).toBe(credential("sk-first-key"));
    expect(credential("sk-first-key")).not.toBe(credential("sk-second-key"));
    expect([credential(undefined), credential(""), credential(() => "sk")]).toEqual([
      "none",
      "none",
      "function",
    ]);
  });

  test("knows which secrets it has loaded", () => {
    expect(createResponsesModel(options).secrets()).toEqual(["sk-first-key"]);
    expect(createResponsesModel({ ...options, apiKey: undefined }).secrets()).toEqual([]);
  });

  test("with another effort is otherwise the same", () => {
    const model = createResponsesModel({ ...options, effort: "low" });
    expect(model.withEffort("high").settings).toEqual({ ...model.settings, effort: "high" });
  });

  test.each([
    [{ profile: "nobody" }, "profile_unknown"],
    [{ effort: "enormous" }, "effort_unknown"],
  ])("refuses %j at once", (wrong, code) => {
    expect(() => createResponsesModel({ ...options, ...wrong })).toThrow(expect.objectContaining({ code }));
  });

  test.each([
    ["gpt-5.6", { sampling: false, summary: undefined }],
    ["o3-mini", { sampling: false, summary: undefined }],
    ["gpt-4.1", { sampling: true, summary: "none" }],
    ["some-model", { sampling: true, summary: undefined }],
  ])("%s gets what its kind takes; its reasoning is kept whatever it is called", (model, expected) => {
    const { settings } = createResponsesModel({ ...options, model });
    expect({ sampling: settings.capabilities.sampling, summary: settings.summary }).toEqual(expected);
    expect(settings.capabilities.reasoning).toBe(true);
  });
});

test("every field of every profile says what it rests on", () => {
  for (const profile of Object.values(PROFILES)) {
    const fields = Object.keys(profile).filter((key) => !["name", "dialect", "evidence"].includes(key));
    expect(Object.keys(profile.evidence).toSorted()).toEqual(fields.toSorted());
  }
});
