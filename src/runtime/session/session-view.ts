/**
 * The half of a local session that only looks: what it is, its events, its requests. Nothing here writes.
 *
 * @module
 */

import type {
  Decision,
  EventsOptions,
  ExplainOptions,
  FollowOptions,
  RebuiltRequest,
  RequestPreview,
} from "../../base/api/index.ts";
import type { ContextUse, LoggedEvent, SessionEvent, Usage } from "../../base/events/index.ts";
import { ThroughlineError } from "../../base/support/index.ts";
import type { Model } from "../providers/index.ts";
import { contextUse } from "../turn/index.ts";
import type { Journal } from "./journal.ts";
import { previewRequest } from "./previews.ts";
import { rebuildRequest } from "./rebuild.ts";
import { settingsFor } from "./settings.ts";
import type { AgentOptions } from "./types.ts";

export abstract class SessionView {
  readonly #journal: Journal;
  readonly #options: AgentOptions;
  #model: Model;

  protected constructor(journal: Journal, options: AgentOptions) {
    this.#journal = journal;
    this.#options = options;
    this.#model = options.model;
  }

  get id(): string {
    return this.#journal.log.session;
  }

  get model(): Model {
    return this.#model;
  }

  get place(): string {
    return this.#journal.log.place;
  }

  get title(): string | undefined {
    return this.#journal.facts.title;
  }

  get usage(): Usage {
    return this.#journal.facts.usage;
  }

  get context(): ContextUse | undefined {
    const { contextTokens } = settingsFor(this.#model, this.#options).capabilities;
    return contextUse(this.#journal.fold, contextTokens);
  }

  get lastSeq(): number {
    return this.#journal.log.events.at(-1)?.seq ?? -1;
  }

  get access(): "write" | "read" {
    return this.#journal.log.mode;
  }

  get writer(): "live" | "none" {
    return this.#journal.writerLives ? "live" : "none";
  }

  get connection(): "open" | "lost" {
    return "open"; // there is none to lose
  }

  onChange(listener: () => void): () => void {
    return this.#journal.onChange(listener);
  }

  events(options: EventsOptions = {}): AsyncIterable<LoggedEvent> {
    return this.#journal.events(options.after ?? -1, options.path ?? "all");
  }

  follow(options: FollowOptions = {}): AsyncIterable<SessionEvent> {
    return this.#journal.follow(options.after ?? -1, options.signal);
  }

  blob(name: string): Promise<Uint8Array | undefined> {
    return this.#journal.log.getBlob(name);
  }

  async preview(options: { readonly model?: Model | string } = {}): Promise<RequestPreview> {
    const { log, blobs, rootSession } = this.#journal;
    await blobs.load();
    const model = options.model === undefined ? this.#model : this.modelOf(options.model);
    return previewRequest({
      events: log.events,
      model,
      settings: settingsFor(model, this.#options),
      cacheKey: rootSession,
      blob: (name) => blobs.get(name),
    });
  }

  /** As rendered: what only the renderer can see (a changed prefix) is told too. */
  async explain(options: ExplainOptions = {}): Promise<readonly Decision[]> {
    if (options.request === undefined) return (await this.preview()).decisions;
    return (await this.rebuild(options.request)).decisions;
  }

  rebuild(request: number): Promise<RebuiltRequest> {
    return rebuildRequest(this.#journal.log, request);
  }

  protected modelOf(model: Model | string): Model {
    if (typeof model !== "string") return model;
    const { modelFrom } = this.#options;
    if (modelFrom !== undefined) return modelFrom(model);
    throw new ThroughlineError({
      code: "model_by_name",
      message: `this agent takes no models by name: give createAgent a modelFrom, or a model instead of ${JSON.stringify(model)}`,
    });
  }

  protected changeModel(model: Model): void {
    this.#model = model;
    this.#journal.changed();
  }
}
