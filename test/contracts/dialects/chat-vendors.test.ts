/** What the vendors of chat completions are asked for beyond the dialect, by endpoint and by model. */

import { describe, expect, test } from "vitest";

import type { Profile, Settings } from "../../../src/base/events/index.ts";
import { profileFor } from "../../../src/runtime/providers/capabilities.ts";
import { PROFILES } from "../../../src/runtime/providers/index.ts";
import { bodyOf, settingsOf, SpokenLog } from "./spoken-log.ts";

/** As `createModel` makes them for a model of that name. */
function vendorSettings(profile: string, model: string, change: Partial<Settings> = {}): Settings {
  const settings = settingsOf(profile, change);
  return {
    ...settings,
    target: { ...settings.target, model },
    profile: profileFor(PROFILES[profile] as Profile, model),
  };
}

/** The request of a conversation with one question, without what every request has. */
function asked(profile: string, model: string, change: Partial<Settings> = {}): Record<string, unknown> {
  const rendered = new SpokenLog().user("Hi.").render(vendorSettings(profile, model, change));
  const { model: _model, stream, stream_options: _options, messages, ...rest } = bodyOf(rendered);
  expect([stream, messages]).toEqual([true, [{ role: "user", content: "Hi." }]]);
  return rest;
}

describe("thoughts of earlier turns are asked for where the vendor forgets them otherwise", () => {
  test.for([
    ["moonshot", "kimi-k2.6", { thinking: { type: "enabled", keep: "all" } }],
    ["moonshot", "kimi-k2.5", { thinking: { type: "enabled" } }],
    ["zai", "glm-5.1", { thinking: { type: "enabled", clear_thinking: false } }],
    ["zai", "glm-4.7", { thinking: { type: "enabled", clear_thinking: false } }],
    ["zai", "glm-4.5", { thinking: { type: "enabled" } }],
    ["qwen", "qwen3.6-plus", { enable_thinking: true, preserve_thinking: true }],
    ["qwen", "qwen3-max", { enable_thinking: true }],
    ["vllm", "Qwen/Qwen3.6-35B-A3B", { chat_template_kwargs: { preserve_thinking: true } }],
    ["vllm", "openai/gpt-oss-120b", {}],
  ] as const)("%s, %s", ([profile, model, expected]) => {
    expect(asked(profile, model)).toEqual(expected);
  });

  test("not while thinking is off", () => {
    const off = { effort: "off" };
    expect(asked("moonshot", "kimi-k2.6", off)).toEqual({ thinking: { type: "disabled" } });
    expect(asked("qwen", "qwen3.6-plus", off)).toEqual({ enable_thinking: false });
  });

  test("a user's own fields of the same object stand beside it, each name once, and cannot unset it", () => {
    const own = { chat_template_kwargs: { enable_thinking: true, preserve_thinking: false }, seed: 1 };
    const settings = vendorSettings("vllm", "Qwen/Qwen3.6-35B-A3B", { parameters: own });
    const rendered = new SpokenLog().user("Hi.").render(settings);
    expect(bodyOf(rendered)).toMatchObject({
      chat_template_kwargs: { enable_thinking: true, preserve_thinking: true },
      seed: 1,
    });
    expect(Buffer.concat(rendered.body).toString().split('"chat_template_kwargs"')).toHaveLength(2);
  });

  test("a profile of a user's own bears another name and stays as it is", () => {
    const own = { ...(PROFILES["moonshot"] as Profile), name: "my-moonshot" };
    expect(profileFor(own, "kimi-k2.6")).toBe(own);
  });
});
