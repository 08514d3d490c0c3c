/**
 * Prices by provider and model: dated data, each row with its source and the day it was read. A model that is not
 * listed has no price, and nothing is guessed. Prices are those of the provider's own public endpoint, standard tier.
 */

import type { Model, Price } from "../providers/index.ts";

type Row = readonly [model: string, input: number, cachedInput: number, output: number];

interface Table {
  readonly providers: readonly string[];
  /** The endpoint these prices apply to. */
  readonly host: string;
  readonly asOf: string;
  readonly source: string;
  readonly rows: readonly Row[];
}

const TABLES: readonly Table[] = [
  {
    providers: ["openai", "openai-chat"],
    host: "api.openai.com",
    // As listed on the pricing page at that time; Sol's price is promotional until at least 2026-11-21.
    asOf: "2026-08-22",
    source:
      "https://developers.openai.com/api/docs/pricing (danny-avila/LibreChat#15114, HeyPuter/puter#3580)",
    rows: [
      ["gpt-5.6", 4, 0.4, 20],
      ["gpt-5.6-sol", 4, 0.4, 20],
      ["gpt-5.6-terra", 2, 0.2, 12],
      ["gpt-5.6-luna", 0.2, 0.02, 1.2],
    ],
  },
  {
    providers: ["openai", "openai-chat"],
    host: "api.openai.com",
    asOf: "2026-06-30",
    source: "https://www.morphllm.com/openai-api-pricing",
    rows: [
      ["gpt-5.5", 5, 0.5, 30],
      ["gpt-5.4", 2.5, 0.25, 15],
      ["gpt-5.4-mini", 0.75, 0.075, 4.5],
      ["gpt-5.4-nano", 0.2, 0.02, 1.25],
    ],
  },
  {
    providers: ["anthropic"],
    host: "api.anthropic.com",
    asOf: "2026-11-16",
    source: "https://platform.claude.com/docs/en/about-claude/pricing",
    rows: [
      ["claude-fable-5-1", 10, 0.25, 50],
      ["claude-fable-5", 10, 1, 50],
      ["claude-opus-5-5", 4, 0.2, 20],
      ["claude-opus-5", 5, 0.5, 25],
      ["claude-opus-4-8", 5, 0.5, 25],
      ["claude-opus-4-7", 5, 0.5, 25],
      ["claude-opus-4-6", 5, 0.5, 25],
      ["claude-opus-4-5", 5, 0.5, 25],
      ["claude-opus-4-1", 15, 1.5, 75],
      ["claude-sonnet-5-5", 2, 0.2, 10],
      ["claude-sonnet-5", 2, 0.2, 10],
      ["claude-haiku-4-5", 1, 0.1, 5],
    ],
  },
];

/** Requests with more input than this cost more as a whole. Same source as the table. */
const LONG: Readonly<Record<string, Price["long"]>> = {
  "gpt-5.6": { above: 272_000, input: 8, cachedInput: 0.8, output: 30 },
  "gpt-5.6-sol": { above: 272_000, input: 8, cachedInput: 0.8, output: 30 },
};

const FREE: Price = {
  input: 0,
  cachedInput: 0,
  output: 0,
  asOf: "always",
  source: "the built-in emulator costs nothing",
};

/** A dated snapshot costs the same as its model: `-2026-08-22`, `-20260822`. */
const SNAPSHOT = /-(?:\d{4}-\d{2}-\d{2}|\d{8})$/;

/** Returns undefined if the price is not known. On an endpoint other than the provider's own, it never is. */
export function priceOf(provider: string, model: string, endpoint?: string): Price | undefined {
  if (provider === "emulator") return FREE;
  const name = model.replace(SNAPSHOT, "");
  for (const table of TABLES) {
    if (!table.providers.includes(provider) || (endpoint !== undefined && hostOf(endpoint) !== table.host))
      continue;
    const row = table.rows.find(([one]) => one === name);
    if (row === undefined) continue;
    const [, input, cachedInput, output] = row;
    const long = LONG[name];
    const { asOf, source } = table;
    return { input, cachedInput, output, long, asOf, source };
  }
  return undefined;
}

function hostOf(endpoint: string): string {
  return URL.canParse(endpoint) ? new URL(endpoint).hostname : "";
}

/** A price that the user gives, in USD per million tokens. */
export interface GivenPrice {
  readonly input: number;
  readonly output: number;
  /** Default: `input`. */
  readonly cachedInput?: number | undefined;
}

export function givenPrice({ input, output, cachedInput = input }: GivenPrice): Price {
  return { input, output, cachedInput, asOf: "your settings", source: "config" };
}

/** The models of a provider whose prices are known. */
export function pricedModels(provider: string): readonly string[] {
  return TABLES.filter(({ providers }) => providers.includes(provider)).flatMap(({ rows }) =>
    rows.map(([name]) => name),
  );
}

/** The same model with its price, if known. */
export function priced(model: Model, price?: Price): Model {
  const { provider, model: name, endpoint } = model.settings.target;
  const known = price ?? priceOf(provider, name, endpoint);
  if (known === undefined) return model;
  return { ...model, price: known, withEffort: (effort) => priced(model.withEffort(effort), known) };
}
