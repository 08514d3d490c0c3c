import { describe, expect, test } from "vitest";

import { createModel, type CreateModelOptions } from "./create-model.ts";
import { PROFILES } from "./profiles/index.ts";

const options: CreateModelOptions = {
  provider: "openai",
  model: "gpt-5.6",
  profile: "openai",
  endpointName: "https://a.test/v1",
  baseUrl: async () => "https://a.test/v1",
  apiKey: "sk-first-key",
  keyName: "SOME_KEY",
};

const credential = (apiKey: CreateModelOptions["apiKey"]): string =>
  createModel({ ...options, apiKey }).settings.target.credential;

describe("createModel", () => {
  test("sets the origin of the items it makes, without revealing the key", () => {
    const { label, settings } = createModel(options);
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

  test("gives different keys different credentials, and the same key the same one", () => {
    expect(credential("sk-first-key")).toBe(credential("sk-first-key"));
    expect(credential("sk-first-key")).not.toBe(credential("sk-second-key"));
    expect([credential(undefined), credential(""), credential(() => "sk")]).toEqual([
      "none",
      "none",
      "function",
    ]);
  });

  test("reports the secrets it has loaded", () => {
    expect(createModel(options).secrets()).toEqual(["sk-first-key"]);
    expect(createModel({ ...options, apiKey: undefined }).secrets()).toEqual([]);
  });

  test("keeps all other settings when the effort changes", () => {
    const model = createModel({ ...options, effort: "low" });
    expect(model.withEffort("high").settings).toEqual({ ...model.settings, effort: "high" });
  });

  test.each([
    [{ profile: "nobody" }, "profile_unknown"],
    [{ effort: "enormous" }, "effort_unknown"],
  ])("refuses %j immediately", (wrong, code) => {
    expect(() => createModel({ ...options, ...(wrong as object) })).toThrow(
      expect.objectContaining({ code }),
    );
  });

  test.each([
    ["gpt-5.6", { sampling: false, summary: undefined, include: true }],
    ["o3-mini", { sampling: false, summary: undefined, include: true }],
    ["gpt-4.1", { sampling: true, summary: "none", include: false }],
    ["gpt-4o-mini", { sampling: true, summary: "none", include: false }],
    ["some-model", { sampling: true, summary: undefined, include: true }],
  ])("gives %s the parameters of its kind and always keeps its reasoning", (model, expected) => {
    const { settings } = createModel({ ...options, model });
    const { capabilities, summary, profile } = settings;
    expect({ sampling: capabilities.sampling, summary, include: profile.sendInclude }).toEqual(expected);
    expect(settings.capabilities.reasoning).toBe(true);
  });
});

test("the capabilities of a model depend on the dialect", () => {
  const sizes = ["openai", "openai-chat"].map(
    (profile) => createModel({ ...options, model: "gpt-4.1", profile }).settings.capabilities.contextTokens,
  );
  expect(sizes).toEqual([1_047_576, undefined]);
});

test("every field of every profile gives its evidence", () => {
  for (const profile of Object.values(PROFILES)) {
    const fields = [
      ...Object.keys(profile).filter((key) => !["name", "dialect", "evidence", "chat"].includes(key)),
      ...Object.keys(profile.chat ?? {}).map((key) => `chat.${key}`),
    ];
    expect(Object.keys(profile.evidence).toSorted()).toEqual(fields.toSorted());
  }
});
