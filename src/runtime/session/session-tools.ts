/**
 * The tools of a session: those of its agent, and those of sources that can change between turns. Before each turn the
 * sources are asked again. What the session has declared stays declared while its server is away, so that the start of
 * its requests stays the same; a real change takes effect with a turn, and a notice says what changed.
 */

import type { ServerInstructions, Settings } from "../../base/events/index.ts";
import { untilAborted } from "../../base/support/index.ts";
import { isToolSource, type SourcedTools, specOf, type Tool, type ToolSource } from "../tools/index.ts";
import type { AgentOptions } from "./types.ts";

/** What a request declares. */
export interface Toolset {
  readonly tools: readonly Tool[];
  readonly instructions: readonly ServerInstructions[];
}

export interface ToolNotice {
  readonly code: "tools_changed" | "mcp_unavailable" | "tools_left_out";
  readonly message: string;
}

export const NO_TOOLS: Toolset = { tools: [], instructions: [] };

/** OpenAI refuses a request with more (failures.md S12). */
const MOST_TOOLS = 128;
/** How many names a notice lists. */
const NAMED = 10;

/** The agent's own tools, without those of sources. */
export function ownTools({ tools = [] }: Pick<AgentOptions, "tools">): readonly Tool[] {
  return tools.filter((one): one is Tool => !isToolSource(one));
}

export function sourcesIn({ tools = [] }: Pick<AgentOptions, "tools">): readonly ToolSource[] {
  return tools.filter((one) => isToolSource(one));
}

export interface SessionToolsParts {
  readonly options: AgentOptions;
  /** The settings of the path so far. */
  readonly declared: () => Settings | undefined;
  /** How many earlier thoughts a request with these tools could not send back. */
  readonly unreadable: (toolset: Toolset) => number;
}

export class SessionTools {
  readonly sources: readonly ToolSource[];
  readonly #parts: SessionToolsParts;
  readonly #own: readonly Tool[];
  readonly #said = new Set<string>();
  #current: Toolset | undefined;

  constructor(parts: SessionToolsParts) {
    this.#parts = parts;
    this.#own = ownTools(parts.options);
    this.sources = sourcesIn(parts.options);
    if (this.sources.length === 0) this.#current = { tools: this.#own, instructions: [] };
  }

  /** Until a turn has begun in this process: what the log says was declared. */
  get current(): Toolset {
    return (this.#current ??= this.#read(true).toolset);
  }

  /** Waits for the sources, and returns what the log says was declared, as far as servers are there to run it. */
  async declared(): Promise<readonly Tool[]> {
    await Promise.all(this.sources.map((source) => source.ready()));
    if (this.sources.length > 0) this.#current = this.#read(true).toolset;
    return this.current.tools;
  }

  /** Waits for the sources, at most until the signal is aborted, and takes what they have now. */
  async refresh(signal: AbortSignal, keep: boolean): Promise<readonly ToolNotice[]> {
    if (this.sources.length === 0) return [];
    await Promise.all(this.sources.map((source) => untilAborted(source.ready(), signal)));
    const { toolset, problems } = this.#read(keep);
    this.#current = toolset;
    return [...this.#changes(toolset), ...problems.filter(({ message }) => this.#isNew(message))];
  }

  #isNew(message: string): boolean {
    if (this.#said.has(message)) return false;
    this.#said.add(message);
    return true;
  }

  #read(keep: boolean): { readonly toolset: Toolset; readonly problems: readonly ToolNotice[] } {
    const before = this.#parts.declared();
    const declared = {
      tools: before?.tools ?? [],
      instructions: before?.serverInstructions ?? [],
      keep: keep && before !== undefined,
    };
    const parts = this.sources.map((source) => source.toolsFor(declared));
    const taken = new Set(this.#own.map(({ name }) => name));
    const offered = [...parts.flatMap(({ tools }) => tools), ...resourceTools(parts)];
    const free = offered.filter(({ name }) => !taken.has(name) && taken.add(name) !== undefined);
    const room = Math.max(0, MOST_TOOLS - this.#own.length);
    const away = parts.flatMap(({ problems }) => problems);
    return {
      toolset: {
        tools: [...this.#own, ...free.slice(0, room)],
        instructions: parts.flatMap(({ instructions }) => instructions),
      },
      problems: [
        ...away.map((message): ToolNotice => ({ code: "mcp_unavailable", message })),
        ...leftOut(
          offered.filter((one) => !free.includes(one)),
          free.slice(room),
        ),
      ],
    };
  }

  /** The first list of a session is no change. */
  #changes(toolset: Toolset): readonly ToolNotice[] {
    const before = this.#parts.declared();
    if (before === undefined) return [];
    const was = new Map(before.tools.map((spec) => [spec.name, JSON.stringify(spec)]));
    const is = new Map(toolset.tools.map((tool) => [tool.name, JSON.stringify(specOf(tool))]));
    const own = new Set(this.#own.map(({ name }) => name));
    const isSourced = (name: string): boolean => !own.has(name);
    const added = [...is.keys()].filter((name) => isSourced(name) && !was.has(name));
    const removed = before.tools.filter(({ name, mcp }) => mcp !== undefined && !is.has(name));
    const altered = [...is].filter(
      ([name, spec]) => isSourced(name) && was.has(name) && was.get(name) !== spec,
    );
    const words = [
      ...wordsFor("added", added),
      ...wordsFor(
        "removed",
        removed.map(({ name }) => name),
      ),
      ...wordsFor(
        "changed",
        altered.map(([name]) => name),
      ),
    ];
    if (words.length === 0) return [];
    const lost = before.profile.prefixBound ? this.#parts.unreadable(toolset) : 0;
    const cost =
      lost === 0
        ? ""
        : `. ${lost} earlier ${lost === 1 ? "thought" : "thoughts"} will not be read: this model binds them to the list of tools`;
    return [
      { code: "tools_changed", message: `the tools of MCP servers changed: ${words.join("; ")}${cost}` },
    ];
  }
}

/** Those of a source that has resources, so that another one's never take their place. */
function resourceTools(parts: readonly SourcedTools[]): readonly Tool[] {
  const having = parts.filter(({ hasResources }) => hasResources);
  const declaring = parts.filter(({ resources }) => resources.length > 0).slice(0, 1);
  return (having.length > 0 ? having : declaring).flatMap(({ resources }) => resources);
}

function wordsFor(what: string, names: readonly string[]): readonly string[] {
  if (names.length === 0) return [];
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : "";
  return [`${what} ${names.slice(0, NAMED).join(", ")}${more}`];
}

function leftOut(twice: readonly Tool[], beyond: readonly Tool[]): readonly ToolNotice[] {
  const limit = `an API takes ${MOST_TOOLS} tools at most; name the ones you need in "tools" of the server's entry:`;
  const words = [
    ...wordsFor("another tool has the same name:", namesOf(twice)),
    ...wordsFor(limit, namesOf(beyond)),
  ];
  return words.map((message): ToolNotice => ({
    code: "tools_left_out",
    message: `tools left out, ${message}`,
  }));
}

function namesOf(tools: readonly Tool[]): readonly string[] {
  return tools.map(({ name }) => name);
}
