/**
 * The questions put to the logs of earlier versions, when they are made and ever after: scripts/make-log-fixtures.mjs
 * records the answers, test/logs/earlier-logs.test.ts compares them. Models and tools here are those the logs were made
 * with.
 *
 * @module
 */

import { createHash } from "node:crypto";

import {
  asEffort,
  CANONICAL_TYPES,
  type Effort,
  type LoggedEvent,
  type Settings,
} from "../../src/base/events/index.ts";
import type { Emulator } from "../../src/emulator/index.ts";
import {
  anthropic,
  type ProviderTool,
  isThroughlineError,
  type Model,
  openai,
  openaiChat,
  PROFILES,
  type Store,
  type Tool,
} from "../../src/index.ts";
import { type Log, previewFromLog, rebuildRequest } from "../../src/inspect.ts";
import { type Block, blocksOf } from "../../src/interface/fragments/index.ts";
import { factsOf } from "../../src/runtime/facts/index.ts";
import { practiceTools } from "./practice-tools.ts";

/** A name that never resolves, so that a test that forgets `towards` reaches nothing. */
const ENDPOINT = "http://emulator.invalid";
export const KEY = "key-of-the-log-fixtures";

interface ModelChoice {
  readonly profile: string;
  readonly effort?: Effort;
  readonly providerTools?: readonly ProviderTool[];
  readonly capabilities?: Partial<Settings["capabilities"]>;
  readonly parameters?: Settings["parameters"];
}

/** The emulated model of that name on the endpoint of the fixtures, according to the profile. */
export function fixtureModel(name: string, dialect: string, choice: ModelChoice): Model {
  const { providerTools, ...rest } = choice;
  const options = { ...rest, apiKey: KEY, ...(providerTools === undefined ? {} : { providerTools }) };
  if (dialect === "anthropic-messages") return anthropic(name, { ...options, baseUrl: ENDPOINT });
  const baseUrl = `${ENDPOINT}/v1`;
  if (dialect === "openai-chat") return openaiChat(name, { ...rest, apiKey: KEY, baseUrl });
  return openai(name, { ...options, baseUrl });
}

/** The last model of a log, as today's program makes it. */
export function modelOf(settings: Settings): Model {
  const { target, profile, effort, hosted, capabilities, parameters } = settings;
  return fixtureModel(target.model, target.dialect, {
    profile: profile.name,
    capabilities,
    parameters,
    ...(effort === undefined ? {} : { effort: asEffort(effort) }),
    ...(hosted.length === 0 ? {} : { providerTools: hosted as readonly ProviderTool[] }),
  });
}

/** The same request, to the emulator instead of the endpoint that the log names. */
export function towards({ url }: Pick<Emulator, "url">): typeof fetch {
  return (input, init) => {
    const asked = new URL(input instanceof Request ? input.url : input);
    return fetch(`${url}${asked.pathname}${asked.search}`, init);
  };
}

/** The tools of these names. Default: one, because every change of settings writes the tools into the log. */
export function fixtureTools(...names: readonly string[]): readonly Tool[] {
  const used = names.length === 0 ? ["get_weather"] : names;
  return practiceTools({ began: () => undefined }).filter(({ name }) => used.includes(name));
}

export const SYSTEM = "Be brief.";

export interface Known {
  readonly types: readonly string[];
  readonly dialects: readonly string[];
}

/** What there must be a log of. A version's folder keeps its own list, because later versions know more. */
export function whatIsKnown(): Known {
  const dialects = new Set(Object.values(PROFILES).map(({ dialect }) => dialect));
  return { types: CANONICAL_TYPES.toSorted(), dialects: [...dialects].toSorted() };
}

export interface LogRecord {
  readonly events: number;
  /** The count of each type; an unknown one as `unknown:<type>`. */
  readonly types: Readonly<Record<string, number>>;
  /** Each `<proof> <bodyHash> <prefixHash>`. */
  readonly requests: readonly string[];
  readonly preview: string;
  readonly blocks: string;
}

/** Or why it cannot be read. */
export type Expected = LogRecord | { readonly problem: string };

/** `version` is the folder of the log; a new log has none. */
export async function expectedOf(
  store: Store,
  id: string,
  mode: "read" | "write",
  version?: string,
): Promise<Expected> {
  let log: Log;
  try {
    log = await store.open(id, { mode });
  } catch (error) {
    if (!isThroughlineError(error)) throw error;
    return { problem: error.code };
  }
  try {
    return await recordOf(log, version);
  } finally {
    await log.close();
  }
}

export async function recordOf(log: Log, version?: string): Promise<LogRecord> {
  const types: Record<string, number> = {};
  for (const event of log.events) types[nameOf(event)] = (types[nameOf(event)] ?? 0) + 1;
  const requests: string[] = [];
  for (const { request, imported } of factsOf(log.events).requests) {
    if (imported) {
      requests.push("imported");
      continue;
    }
    const { body, start, proof } = await rebuildRequest(log, request);
    // Hashes of the rebuilt body, not those that the log states: a change shows even if the proof was not "same".
    requests.push(`${proof} ${hashOf(body)} ${start.prefixHash}`);
  }
  const preview = hashOf((await previewFromLog(log)).body);
  const blocks = hashOf(displayOf(log, version));
  return { events: log.events.length, types, requests, preview, blocks };
}

/** The versions that recorded the display of their logs without what was added to it since. */
const BEFORE_ADDITIONS: ReadonlySet<string | undefined> = new Set(["v0.1.0", "v0.1.1"]);
const ADDED_FIELDS: ReadonlySet<string> = new Set(["argumentsHash", "waits"]);

function withoutAdditions(key: string, value: unknown): unknown {
  return ADDED_FIELDS.has(key) ? undefined : value;
}

function displayOf(log: Log, version: string | undefined): string {
  const blocks = blocksOf(log.events, { writerAlive: false });
  if (version === undefined || !EARLIER_BLOCKS.has(version)) return JSON.stringify(blocks);
  const keptBack = keptBackIn(log.events);
  const earlier = blocks.map((block) => earlierBlock(block, keptBack));
  if (!BEFORE_ADDITIONS.has(version)) return JSON.stringify(earlier);
  // A file in a message was shown without its name.
  return JSON.stringify(earlier, withoutAdditions).replaceAll(/\[file [^\]]*\]/g, "[file]");
}

/** The versions whose blocks named the model of a thought and whether it was kept back, and no waits for people. */
const EARLIER_BLOCKS: ReadonlySet<string> = new Set(["v0.1.0", "v0.1.1", "v0.1.2", "v0.1.3"]);

function earlierBlock(block: Block, keptBack: (seq: number) => boolean): object {
  switch (block.kind) {
    case "reasoning": {
      const { id, generating, superseded, kind, seqs, startedAt, durationMs, tokens, parts, cut } = block;
      const { model } = block.origin;
      const known = {
        id,
        generating,
        superseded,
        kind,
        seqs,
        model,
        startedAt,
        durationMs,
        tokens,
        parts,
        cut,
      };
      return { ...known, keptBack: seqs.some(keptBack) };
    }
    case "tool": {
      const {
        startedAt: _start,
        askedAt: _asked,
        waitedMs: _waited,
        pausedMs: _paused,
        pending: _,
        ...known
      } = block;
      return known;
    }
    case "turn_end": {
      const { waitedMs: _waited, ...known } = block;
      return known;
    }
    case "user":
    case "text":
    case "notice":
      return block;
    default:
      return block satisfies never;
  }
}

/** The thoughts that the last request left out because another model had made them. */
function keptBackIn(events: readonly LoggedEvent[]): (seq: number) => boolean {
  const ranges = events
    .flatMap((event) => (event.type === "response_start" && event.leftOutAs === undefined ? [event] : []))
    .at(-1)
    ?.leftOut?.flatMap(({ reason, seqs }) => (reason === "foreign_origin" ? seqs : []));
  return (seq) => (ranges ?? []).some(([from, to]) => from <= seq && seq <= to);
}

function nameOf(event: LoggedEvent): string {
  return event.type === "unknown" ? `unknown:${event.unknownType}` : event.type;
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
