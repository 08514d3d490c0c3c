/**
 * `throughline models`: lists providers, whether their key is set, their profile, the models with a known price, and
 * efforts. A key is never shown.
 */

import { Command } from "commander";

import { EFFORTS } from "../../../base/events/index.ts";
import { codedError, didYouMean, publicAddress } from "../../../base/support/index.ts";
import {
  EMULATED_MODELS,
  hasKey,
  pricedModels,
  PROVIDERS,
  urlFromEnvironment,
} from "../../../runtime/models/index.ts";
import { type Model, type Price, PROFILES } from "../../../runtime/providers/index.ts";
import type { ConfigValues } from "../../config/index.ts";
import type { Finish } from "../command-table.ts";
import { EXIT } from "../exit-codes.ts";
import { inertLine } from "../inert-text.ts";
import { settingsHere } from "../project-trust.ts";
import { printJson, type Terminal } from "../terminal.ts";
import { modelsOf, profileNamed, userProviders } from "../user-providers.ts";

interface ProviderView {
  readonly provider: string;
  readonly from: "built-in" | "config";
  readonly dialect: string;
  readonly profile: string;
  /** Profile fields that are assumed, not confirmed. */
  readonly assumed: readonly string[];
  readonly baseUrl: string | null;
  readonly keyVariable: string | null;
  readonly key: "present" | "missing" | "not needed";
  readonly models: readonly ModelView[];
}

interface ModelView {
  readonly model: string;
  readonly capabilities: Model["settings"]["capabilities"];
  readonly price: Price | null;
}

export function modelsCommand(terminal: Terminal, finish: Finish): Command {
  return new Command("models")
    .description("List providers, whether their keys are set, models, prices and efforts")
    .argument("[name]", "show only this provider, or this model in the form that -m takes")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      `
Examples:
  throughline models                      list every provider
  throughline models anthropic            list one provider
  throughline models openai/gpt-5.6       show what one model can do and what it costs

The list holds the models with a known price. You can use any other model of a provider too.`,
    )
    .action((name: string | undefined, flags: { readonly json?: boolean }) => {
      models(name, flags, terminal);
      finish(EXIT.ok);
    });
}

function models(name: string | undefined, flags: { readonly json?: boolean }, terminal: Terminal): void {
  const { values } = settingsHere(terminal);
  if (name?.includes("/") === true) {
    const view = modelView(modelsOf(values)(name));
    if (flags.json === true) printJson(terminal.stdout, view);
    else terminal.stdout.write(`${modelText(view)}\n`);
    return;
  }
  const views = providersOf(values).filter(({ provider }) => name === undefined || provider === name);
  if (views.length === 0) {
    const names = providersOf(values).map(({ provider }) => provider);
    throw codedError(
      "model_invalid",
      `unknown provider "${name ?? ""}"; use one of ${names.join(", ")}. Write a model as provider/model${didYouMean(name ?? "", names)}`,
    );
  }
  if (flags.json === true) {
    const profiles = Object.keys({ ...PROFILES, ...values.profiles });
    return printJson(terminal.stdout, { providers: views, efforts: EFFORTS, profiles });
  }
  for (const view of views) terminal.stdout.write(`${providerText(view)}\n`);
  terminal.stdout.write(`efforts: ${EFFORTS.join(", ")} (a model may not support all of them)\n`);
}

function providersOf(config: ConfigValues): readonly ProviderView[] {
  const own = userProviders(config);
  const modelFrom = modelsOf(config);
  const named = { ...PROVIDERS, ...own };
  const emulator: ProviderView = {
    provider: "emulator",
    from: "built-in",
    dialect: "openai-responses, openai-chat, anthropic-messages",
    profile: "emulator",
    assumed: [],
    baseUrl: null,
    keyVariable: null,
    key: "not needed",
    models: EMULATED_MODELS.map((id) => modelView(modelFrom(`emulator/${id}`))),
  };
  return [
    emulator,
    ...Object.values(named).map((provider): ProviderView => {
      const { name, profile, baseUrl, keyVariable, keyOptional } = provider;
      const used = typeof profile === "string" ? profileNamed(profile, config) : profile;
      const url = urlFromEnvironment(provider) ?? baseUrl;
      const ids = Object.hasOwn(own, name) ? (config.providers?.[name]?.models ?? []) : pricedModels(name);
      return {
        provider: name,
        from: Object.hasOwn(own, name) ? "config" : "built-in",
        dialect: used.dialect,
        profile: used.name,
        assumed: Object.keys(used.evidence).filter(
          (field) => used.evidence[field]?.startsWith("assumed") === true,
        ),
        baseUrl: url === undefined ? null : withoutSecrets(url),
        keyVariable: keyVariable ?? null,
        key: hasKey(provider) ? "present" : keyOptional === true ? "not needed" : "missing",
        models: url === undefined ? [] : ids.map((id) => modelView(modelFrom(`${name}/${id}`))),
      };
    }),
  ];
}

/** A base URL from the environment may contain credentials. They are hidden here; using such a URL is an error. */
function withoutSecrets(url: string): string {
  return URL.canParse(url) ? publicAddress(url).replace(/\/$/, "") : "(not a URL)";
}

function modelView(model: Model): ModelView {
  return { model: model.label, capabilities: model.settings.capabilities, price: model.price ?? null };
}

function providerText(view: ProviderView): string {
  const { provider, key, keyVariable, dialect, profile, baseUrl, models: known, from } = view;
  const keyText = keyVariable === null ? key : `${keyVariable} ${key}`;
  const head = `${provider} · key: ${keyText} · ${dialect} · profile ${profile}${from === "config" ? " · from your settings" : ""}`;
  return [
    inertLine(head, 200),
    ...(baseUrl === null ? [] : [`  ${inertLine(baseUrl, 200)}`]),
    ...known.map((one) => `  ${modelText(one)}`),
    "",
  ].join("\n");
}

function modelText({ model, capabilities, price }: ModelView): string {
  const cost =
    price === null
      ? "price unknown"
      : `$${price.input} in, $${price.cachedInput} cached, $${price.output} out per million tokens (${price.asOf})`;
  const { contextTokens, vision } = capabilities;
  const context = contextTokens === undefined ? "" : ` · ${contextTokens} tokens of context`;
  return inertLine(`${model} · ${cost}${context}${vision ? " · images" : ""}`, 300);
}
