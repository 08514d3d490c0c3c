import { expectTypeOf, test } from "vitest";

import {
  anthropic,
  type AnthropicOptions,
  type Effort,
  emulator,
  type EmulatorModelOptions,
  type GivenPrice,
  type Model,
  modelFrom,
  type ModelFromOptions,
  type ModelOptions,
  openai,
  openaiChat,
  type OpenAiOptions,
  type Profile,
  type ProfileName,
  PROFILES,
  type Provider,
  PROVIDERS,
  type ProviderTool,
} from "../../src/index.ts";
import { compileOnly } from "./compile-only.ts";

test("the functions that return models take a name and options", () => {
  expectTypeOf(openai).toEqualTypeOf<(model: string, options?: OpenAiOptions) => Model>();
  expectTypeOf(anthropic).toEqualTypeOf<(model: string, options?: AnthropicOptions) => Model>();
  expectTypeOf(openaiChat).toEqualTypeOf<(model: string, options?: ModelOptions) => Model>();
  expectTypeOf(emulator).toEqualTypeOf<(options?: EmulatorModelOptions) => Model>();
  expectTypeOf(modelFrom).toEqualTypeOf<(name: string, options?: ModelFromOptions) => Model>();
});

test("an effort is one of the levels", () => {
  expectTypeOf<Effort>().toEqualTypeOf<
    "off" | "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max"
  >();
  expectTypeOf<Model["withEffort"]>().toEqualTypeOf<(effort: Effort) => Model>();
  compileOnly((model: Model) => {
    openai("gpt-5.6", { effort: "xhigh" });
    // @ts-expect-error "extreme" is not an effort
    openai("gpt-5.6", { effort: "extreme" });
    // @ts-expect-error "extreme" is not an effort
    emulator({ effort: "extreme" });
    // @ts-expect-error "extreme" is not an effort
    model.withEffort("extreme");
  });
});

test("a profile is a known name, which an editor can complete, any other name, or an object", () => {
  expectTypeOf<"deepseek">().toExtend<ProfileName>();
  expectTypeOf<"acme">().not.toExtend<ProfileName>();
  expectTypeOf<ModelOptions["profile"]>().toEqualTypeOf<ProfileName | (string & {}) | Profile | undefined>();
  compileOnly((profile: Profile) => {
    openaiChat("a", { profile: "deepseek" });
    openaiChat("a", { profile: "acme" });
    openaiChat("a", { profile });
    // @ts-expect-error a number is not a profile
    openaiChat("a", { profile: 1 });
  });
});

test("options that a vendor does not have do not compile", () => {
  compileOnly(() => {
    openai("a", { apiKey: async () => "key", summary: "detailed", providerTools: ["web_search"] });
    anthropic("a", { summary: "none", providerTools: [{ type: "web_search_20260318", max_uses: 3 }] });
    // @ts-expect-error the option is `baseUrl`
    openai("a", { baseURL: "http://127.0.0.1" });
    // @ts-expect-error Claude has no detailed summaries
    anthropic("a", { summary: "detailed" });
    // @ts-expect-error `reasoningContext` is OpenAI's
    anthropic("a", { reasoningContext: "auto" });
    // @ts-expect-error chat completions have no tools of the provider
    openaiChat("a", { providerTools: ["web_search"] });
    // @ts-expect-error a tool of a provider has a type
    openai("a", { providerTools: [{ name: "web_search" }] });
    // @ts-expect-error there is no option `temperature`: it is a parameter
    openai("a", { temperature: 1 });
    // @ts-expect-error a model name is required
    openai();
  });
});

test("the tables have their entries by name", () => {
  expectTypeOf(PROVIDERS).toEqualTypeOf<Readonly<Record<string, Provider>>>();
  expectTypeOf(PROFILES.openai).toEqualTypeOf<Profile>();
  expectTypeOf(PROFILES["acme"]).toEqualTypeOf<Profile | undefined>();
  expectTypeOf<ProviderTool>().toExtend<string | { readonly type: string }>();
});

test("a price has the rates of input and output", () => {
  compileOnly((price: GivenPrice) => {
    openai("m", { price });
    // @ts-expect-error the output has a price too
    openai("m", { price: { input: 1 } });
  });
});
