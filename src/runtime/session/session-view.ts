/** The read-only half of a local session: its properties, its events, its requests. Nothing here writes. */

import type {
  Decision,
  EventsOptions,
  ExplainOptions,
  FollowOptions,
  McpPrompt,
  McpPromptMessage,
  McpServerView,
  RebuiltRequest,
  RequestPreview,
} from "../../base/api/index.ts";
import type { ContextUse, LoggedEvent, SessionEvent, Usage } from "../../base/events/index.ts";
import { aText, checkArgument, codedError } from "../../base/support/index.ts";
import type { Model } from "../providers/index.ts";
import { contextUse, type LiveLog } from "../turn/index.ts";
import { assertMethodOptions } from "./agent-options.ts";
import { aModel, aModelOrName, textsByName } from "./option-checks.ts";
import { previewRequest } from "./previews.ts";
import { rebuildRequest } from "./rebuild.ts";
import { SessionMcp } from "./session-mcp.ts";
import type { SessionTools } from "./session-tools.ts";
import { settingsFor } from "./settings.ts";
import type { AgentOptions } from "./types.ts";

export abstract class SessionView {
  readonly #live: LiveLog;
  readonly #options: AgentOptions;
  readonly #tools: SessionTools;
  readonly #mcp: SessionMcp;
  #model: Model;

  protected constructor(live: LiveLog, options: AgentOptions, tools: SessionTools) {
    this.#live = live;
    this.#options = options;
    this.#tools = tools;
    this.#mcp = new SessionMcp(tools.sources);
    this.#model = options.model;
  }

  get id(): string {
    return this.#live.log.session;
  }

  get model(): Model {
    return this.#model;
  }

  get location(): string {
    return this.#live.log.location;
  }

  get title(): string | undefined {
    return this.#live.facts.title;
  }

  get usage(): Usage {
    return this.#live.facts.usage;
  }

  get context(): ContextUse | undefined {
    const { contextTokens } = settingsFor(this.#model, this.#options).capabilities;
    return contextUse(this.#live.fold, contextTokens);
  }

  get lastSeq(): number {
    return this.#live.log.events.at(-1)?.seq ?? -1;
  }

  get access(): "write" | "read" {
    return this.#live.log.mode;
  }

  get writer(): "live" | "none" {
    return this.#live.writerLives ? "live" : "none";
  }

  get connection(): "open" | "lost" {
    return "open"; // there is no connection to lose
  }

  onChange(listener: () => void): () => void {
    return this.#live.onChange(listener);
  }

  refresh(): Promise<void> {
    return this.#live.refresh();
  }

  events(options: EventsOptions = {}): AsyncIterable<LoggedEvent> {
    assertMethodOptions("events", options);
    return this.#live.events(options.after ?? -1, options.path ?? "all");
  }

  follow(options: FollowOptions = {}): AsyncIterable<SessionEvent> {
    assertMethodOptions("follow", options);
    return this.#live.follow(options.after ?? -1, options.signal);
  }

  /** Like `follow`, in batches as they arrived. All followers get the same arrays, so work on them can be shared. */
  followBatches(options: FollowOptions = {}): AsyncIterable<readonly SessionEvent[]> {
    assertMethodOptions("follow", options);
    return this.#live.followBatches(options.after ?? -1, options.signal);
  }

  blob(name: string): Promise<Uint8Array | undefined> {
    return this.#live.log.getBlob(name);
  }

  async preview(options: { readonly model?: Model | string } = {}): Promise<RequestPreview> {
    assertMethodOptions("preview", options);
    const { log, blobs, rootSession } = this.#live;
    await blobs.load();
    const model = options.model === undefined ? this.#model : this.modelOf(options.model);
    return previewRequest({
      events: log.events,
      model,
      settings: settingsFor(model, this.#options, this.#tools.current),
      cacheKey: rootSession,
      blob: (name) => blobs.get(name),
    });
  }

  async mcpServers(): Promise<readonly McpServerView[]> {
    return this.#mcp.servers;
  }

  async reconnectMcp(server?: string): Promise<readonly McpServerView[]> {
    if (server !== undefined) checkArgument("reconnectMcp", "server", server, aText);
    await this.#mcp.reconnect(server);
    return this.#mcp.servers;
  }

  mcpPrompts(): Promise<readonly McpPrompt[]> {
    return this.#mcp.prompts();
  }

  async mcpPrompt(
    server: string,
    name: string,
    given: Readonly<Record<string, string>> = {},
  ): Promise<readonly McpPromptMessage[]> {
    checkArgument("mcpPrompt", "server", server, aText);
    checkArgument("mcpPrompt", "name", name, aText);
    checkArgument("mcpPrompt", "given", given, textsByName);
    return this.#mcp.prompt(server, name, given);
  }

  /** As rendered, so it includes what only the renderer can see (a changed prefix). */
  async explain(options: ExplainOptions = {}): Promise<readonly Decision[]> {
    assertMethodOptions("explain", options);
    if (options.request === undefined) return (await this.preview()).decisions;
    return (await this.rebuild(options.request)).decisions;
  }

  rebuild(request: number): Promise<RebuiltRequest> {
    return rebuildRequest(this.#live.log, request);
  }

  protected modelOf(model: Model | string): Model {
    checkArgument("setModel", "model", model, aModelOrName);
    if (typeof model !== "string") return model;
    const { modelFrom } = this.#options;
    if (modelFrom !== undefined) {
      const found = modelFrom(model);
      checkArgument("modelFrom", "its result", found, aModel);
      return found;
    }
    throw codedError(
      "model_by_name",
      `this agent does not accept models by name. Give createAgent a modelFrom, or pass a model instead of ${JSON.stringify(model)}`,
    );
  }

  protected changeModel(model: Model): void {
    this.#model = model;
    this.#live.changed();
  }
}
