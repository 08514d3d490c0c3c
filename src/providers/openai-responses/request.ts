/**
 * Plan → request body. What was rendered is kept as bytes and as a running hash, so the next step costs what is new; the
 * same prefix gives the same bytes (law 4). `input` comes last in the body, because it is what grows.
 *
 * @module
 */

import { createHash, type Hash } from "node:crypto";

import type { Settings } from "../../events/index.ts";
import { type Plan, type PlanEntry, sendsReasoning, withoutReasoning } from "../../fold/index.ts";
import { RequestCheck, viewItem } from "../../rules/index.ts";
import { GrowingBytes } from "../../support/index.ts";
import { ITEM_ID_PREFIXES } from "../../wire/index.ts";
import type { ItemSource, RenderContext, RenderedRequest, Renderer } from "../provider.ts";
import { renderEntry } from "./render-items.ts";

/** Raised when the same plan gives other bytes than before: old hashes are then "of another renderer". */
export const RENDERER_VERSION = 1;

export class ResponsesRenderer implements Renderer {
  #state: RenderState | undefined;

  render(plan: Plan, context: RenderContext): RenderedRequest {
    const head = Buffer.from(headOf(plan, context));
    if (this.#state?.continues(plan, head) !== true) this.#state = new RenderState(plan, head);
    return this.#state.render(plan, context);
  }
}

const TAIL = Buffer.from("]}");
const COMMA = Buffer.from(",");

class RenderState {
  readonly #revision: number;
  readonly #head: Buffer;
  readonly #bodyHash: Hash;
  readonly #prefixHash: Hash;
  readonly #input = new GrowingBytes();
  readonly #check = new RequestCheck();
  readonly #sources: ItemSource[] = [];
  /** The plan's entries so far, and what became of them. */
  readonly #planned: PlanEntry[] = [];
  readonly #rendered: PlanEntry[] = [];
  /** On a prefix-bound target: this and all later reasoning is left out (failures.md C04, H06). */
  #prefixBroken = false;

  constructor(plan: Plan, head: Buffer) {
    this.#revision = plan.revision;
    this.#head = head;
    this.#bodyHash = createHash("sha256").update(head);
    this.#prefixHash = createHash("sha256").update(prefixHead(plan.settings));
  }

  continues(plan: Plan, head: Buffer): boolean {
    const last = this.#planned.length - 1;
    return (
      plan.revision === this.#revision &&
      head.equals(this.#head) &&
      plan.entries.length > last &&
      (last === -1 || plan.entries[last] === this.#planned[last])
    );
  }

  render(plan: Plan, context: RenderContext): RenderedRequest {
    for (let index = this.#planned.length; index < plan.entries.length; index += 1) {
      const planned = plan.entries[index] as PlanEntry;
      const entry = this.#guardPrefix(guardIds(planned), plan);
      this.#planned.push(planned);
      this.#rendered.push(entry);
      for (const { text, source } of renderEntry(entry, plan, context)) this.#push(text, source);
    }
    return {
      body: [this.#head, this.#input.view(), TAIL],
      bodyHash: this.#bodyHash.copy().update(TAIL).digest("hex"),
      prefixHash: this.#prefixHash.copy().digest("hex"),
      entries: [...this.#rendered],
      sources: [...this.#sources],
      violations: this.#check.violations(),
    };
  }

  #push(text: string, source: ItemSource): void {
    const bytes = Buffer.from(text);
    const pieces = this.#input.length === 0 ? [bytes] : [COMMA, bytes];
    for (const piece of pieces) {
      this.#input.append(piece);
      this.#bodyHash.update(piece);
      this.#prefixHash.update(piece);
    }
    this.#check.push(
      viewItem(text, {
        index: this.#sources.length,
        ...(source.response === undefined ? {} : { group: source.response }),
      }),
    );
    this.#sources.push(source);
  }

  #guardPrefix(entry: PlanEntry, plan: Plan): PlanEntry {
    if (!plan.settings.profile.prefixBound || entry.kind !== "group" || !sendsReasoning(entry)) return entry;
    this.#prefixBroken ||= this.#prefixHash.copy().digest("hex") !== entry.group.start.prefixHash;
    if (!this.#prefixBroken) return entry;
    return withoutReasoning(entry, "prefix_changed", "what stands before it is not what it was made after");
  }
}

/** Ids with the prefix of another type are refused: the group goes without (failures.md I06). */
function guardIds(entry: PlanEntry): PlanEntry {
  if (entry.kind !== "group" || !entry.withIds) return entry;
  const wrong = entry.items.find(({ action, event: { itemType, itemId } }) => {
    const prefixes = ITEM_ID_PREFIXES[itemType];
    if (action === "omit" || itemId === undefined || prefixes === undefined) return false;
    return !prefixes.some((prefix) => itemId.startsWith(prefix));
  });
  if (wrong === undefined) return entry;
  const { itemId, itemType } = wrong.event;
  return withoutReasoning(entry, "id_invalid", `the id ${itemId} is not one of a ${itemType}`);
}

/** What a provider may count as the prefix besides the input: instructions and tools. */
function prefixHead(settings: Settings): string {
  return JSON.stringify([settings.system ?? null, toolsOf(settings)]);
}

/** Everything before the items. Key order is fixed; a key that is not set is not sent. */
function headOf(plan: Plan, context: RenderContext): string {
  const { settings } = plan;
  const { profile, capabilities, parameters } = settings;
  const tools = toolsOf(settings);
  const refused = new Set(plan.strip.filter((one) => one.itemType === undefined).map((one) => one.field));
  const { temperature, top_p, ...others } = parameters;
  const free = Object.entries(others).filter(([name]) => !FIXED_FIELDS.has(name));
  const body: Record<string, unknown> = {
    model: settings.target.model,
    ...(profile.sendStore ? { store: false } : {}),
    stream: true,
    ...(profile.sendInclude && !refused.has("include") ? { include: ["reasoning.encrypted_content"] } : {}),
    ...(capabilities.reasoning ? reasoningOf(settings, refused) : {}),
    ...(settings.system === undefined ? {} : { instructions: settings.system }),
    ...(tools.length === 0 ? {} : { tools, parallel_tool_calls: true }),
    ...(settings.maxOutputTokens === undefined ? {} : { max_output_tokens: settings.maxOutputTokens }),
    ...(settings.output === undefined
      ? {}
      : { text: { format: { type: "json_schema", ...settings.output } } }),
    ...(profile.sendPromptCacheKey ? { prompt_cache_key: context.cacheKey } : {}),
    ...(capabilities.sampling ? definedOnly({ temperature, top_p }) : {}),
    ...Object.fromEntries(free),
  };
  for (const field of refused) delete body[field];
  return `${JSON.stringify(body).slice(0, -1)},"input":[`;
}

/** What keeps a request free of server state is not a parameter: a stored or chained one breaks later (P06, I10). */
const FIXED_FIELDS: ReadonlySet<string> = new Set([
  "model",
  "store",
  "input",
  "previous_response_id",
  "conversation",
]);

function reasoningOf(settings: Settings, refused: ReadonlySet<string>): { readonly reasoning?: object } {
  const effort = settings.effort === "off" ? "none" : settings.effort;
  const reasoning = definedOnly({
    effort,
    summary: settings.summary === "none" ? undefined : (settings.summary ?? "auto"),
    context: settings.reasoningContext,
  });
  for (const field of refused) {
    if (field.startsWith("reasoning.")) delete reasoning[field.slice("reasoning.".length)];
  }
  return Object.keys(reasoning).length === 0 ? {} : { reasoning };
}

/** Top level, not nested under `function` (failures.md S13). */
function toolsOf(settings: Settings): readonly object[] {
  const functions = settings.tools.map(({ name, description, parameters, strict }) => ({
    type: "function",
    name,
    description,
    parameters,
    strict,
  }));
  return [...functions, ...settings.hosted];
}

function definedOnly(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
