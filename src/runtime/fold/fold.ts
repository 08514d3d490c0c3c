/**
 * The fold: log → plan. Pure and deterministic: it does not depend on time, ids, options or tables.
 *
 * It is incremental: events are added one by one, and plans of settled entries are kept, so a step costs only what is
 * new. Anything that can change an earlier decision (settings, override, branch, compaction, a second attempt) starts a
 * new revision. `planOf(events)` from scratch and the incremental plan are equal; a property test ensures that.
 */

import {
  type Compaction,
  type EventHead,
  eventOf,
  headsOf,
  type LoggedEvent,
  type ReplayOverride,
  responseFormOf,
  sameOrigin,
  type Settings,
  type ToolCall,
} from "../../base/events/index.ts";
import { assertNever, sendableToolName } from "../../base/support/index.ts";
import { activePath, leavesAside, startsAside } from "./active-path.ts";
import { containerOf, givesContainer } from "./container.ts";
import { type Entry, Group } from "./entries.ts";
import { groupForm, guardGroup, type GuardTarget, isCallId, mappedCallId } from "./guard.ts";
import { resultOfOpenCall } from "./open-ends.ts";
import { type Plan, type PlanEntry, type PlannedItem, type PlannedResult, RESULT_IMAGES } from "./plan.ts";
import { allowedGroups } from "./replay-policy.ts";
import { type GroupForm, openCallsOf, serverBlockOf } from "./server-pairs.ts";
import { wholeGroup } from "./whole-groups.ts";

export function planOf(events: readonly LoggedEvent[], settings?: Settings): Plan | undefined {
  const fold = new Fold();
  fold.add(events);
  return fold.plan(settings);
}

export class Fold {
  #events: EventHead[] = [];
  #entries: Entry[] = [];
  #groups = new Map<string, Group>();
  #overrides: ReplayOverride[] = [];
  #settings: Settings | undefined;
  #compaction: Compaction | undefined;
  /** The turn that is off the path, while it is open. */
  #aside: string | undefined;
  /** A rebuild waits for more events. */
  #turnsBack = false;
  /** Incremented by anything that may change earlier plans. */
  #generation = 0;
  #cache: PlanCache | undefined;

  get settings(): Settings | undefined {
    return this.#settings;
  }

  /** The cut in force. */
  get compaction(): Compaction | undefined {
    return this.#compaction;
  }

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  group(response: string): Group | undefined {
    return this.#groups.get(response);
  }

  /** Events that turn back cause one rebuild at the end, so a log with many branches costs no more than one without. */
  add(events: readonly LoggedEvent[]): void {
    this.addHeads(headsOf(events), 0, events.length);
  }

  /** Adds the heads from `from` on, up to `to`. If the caller adds `more` at once, a rebuild waits for the last. */
  addHeads(heads: readonly EventHead[], from: number, to: number, more = false): void {
    let turnsBack = this.#turnsBack;
    for (let at = from; at < to; at += 1) {
      const event = heads[at] as EventHead;
      this.#events.push(event);
      const left = this.#aside !== undefined && leavesAside(event, this.#aside);
      if (left) this.#aside = undefined;
      if (this.#aside === undefined && startsAside(event)) this.#aside = event.turn;
      turnsBack ||=
        event.type === "branch" || event.type === "compaction" || (left && event.type === "user_message");
      if (!turnsBack) this.#take(event);
    }
    if (turnsBack && !more) this.#rebuild();
    this.#turnsBack = turnsBack && more;
  }

  /** The plan for the current settings, or for others (a preview). Undefined while the log has no settings. */
  plan(settings: Settings | undefined = this.#settings): Plan | undefined {
    return this.#planUpTo(settings, Infinity);
  }

  /**
   * The plan so far with up to `count` more entries, for callers that render a long log in parts. Undefined if the plan
   * of the whole log is as near, or if one of these entries can still change.
   */
  planAhead(count: number): Plan | undefined {
    if (this.#settings === undefined) return undefined;
    const cache = this.#cacheFor(this.#settings);
    const upTo = cache.entries.length + count;
    const { revision } = cache;
    if (upTo >= this.#entries.length) return undefined;
    const plan = this.#planUpTo(this.#settings, upTo);
    return cache.revision === revision && cache.entries.length === upTo ? plan : undefined;
  }

  #planUpTo(settings: Settings | undefined, upTo: number): Plan | undefined {
    if (settings === undefined) return undefined;
    const cache = this.#cacheFor(settings);
    const overrides = this.#overrides.filter((one) => sameOrigin(one.target, settings.target));
    const allowed = allowedGroups(this.#entries, settings);
    // A cap counts back from the end, so every new message may change earlier plans.
    if (allowed !== undefined) cache.reset();
    let taken = cache.taken;
    let settled = true;
    const open: PlanEntry[] = [];
    const fresh = this.#entries.slice(cache.entries.length);
    const blocks = responseFormOf(settings.profile) === "blocks";
    const formOf = (group: Group): GroupForm => groupForm(group, { settings, overrides });
    const container = blocks ? containerOf(this.#entries, formOf) : undefined;
    const hasContainer = container !== undefined || givesContainer(settings);
    let codeLost = false;
    const end = Math.min(fresh.length, upTo - cache.entries.length);
    for (let index = 0; index < end; index += 1) {
      const entry = fresh[index] as Entry;
      // A cap on replayed reasoning needs the guard.
      const whole =
        entry.kind === "group" && allowed === undefined
          ? wholeGroup(entry, { settings, overrides }, taken)
          : undefined;
      if (whole !== undefined) {
        (settled ? cache.entries : open).push(whole);
        continue; // every call has its result, so it is settled
      }
      const calls =
        blocks && entry.kind === "group"
          ? openCallsOf(entry, fresh, index + 1, { formOf, hasContainer })
          : undefined;
      codeLost ||= calls?.lost === true;
      if (settled && entry.kind === "group" && !(entry.settled && calls?.settled !== false)) {
        settled = false;
        taken = copyOf(taken);
      }
      const planned = planEntry(entry, { settings, overrides, allowed, taken, stay: calls?.stay });
      takeIds(planned, taken);
      // Everything after an open group is planned again next time.
      (settled ? cache.entries : open).push(planned);
    }
    const strip = overrides.flatMap((one) => (one.what.kind === "field" ? [one.what] : []));
    const entries = cache.entries.concat(open);
    return { settings, entries, revision: cache.revision, strip, overrides, container, codeLost };
  }

  /**
   * Whether a call that the provider runs itself waits for its result at the end. A person's message there would drop
   * it.
   */
  get waitsForServer(): boolean {
    const settings = this.#settings;
    if (settings === undefined || responseFormOf(settings.profile) !== "blocks") return false;
    const overrides = this.#overrides.filter((one) => sameOrigin(one.target, settings.target));
    const formOf = (group: Group): GroupForm => groupForm(group, { settings, overrides });
    const last = this.#entries.findLastIndex((entry) => entry.kind !== "group");
    const groups = this.#entries.slice(last + 1).filter((entry) => entry.kind === "group");
    return groups.some((group, index) => {
      if (formOf(group) !== "home") return false;
      const { stay, settled } = openCallsOf(group, groups, index + 1, { formOf, hasContainer: true });
      return !settled && stay.size > 0;
    });
  }

  #cacheFor(settings: Settings): PlanCache {
    if (this.#cache?.settings !== settings || this.#cache.generation !== this.#generation) {
      this.#cache = new PlanCache(settings, this.#generation);
    }
    return this.#cache;
  }

  #rebuild(): void {
    this.#entries = [];
    this.#groups = new Map();
    // Refusals of an origin stay valid on every branch and across every cut.
    this.#overrides = this.#events.filter(({ type }) => type === "replay_override").map(overrideOf);
    this.#settings = undefined;
    this.#generation += 1;
    const path = activePath(this.#events);
    const last = path.findLast(({ type }) => type === "compaction");
    const compaction = last === undefined ? undefined : (eventOf(last) as Compaction);
    this.#compaction = compaction;
    if (compaction !== undefined && compaction.summary !== "") {
      this.#entries.push({ kind: "summary", event: compaction });
    }
    for (const event of path) {
      const cut = compaction !== undefined && event.seq < compaction.before;
      // Settings stay in force across a cut; only the conversation before it is gone.
      if (event.type !== "replay_override" && (!cut || event.type === "settings")) this.#take(event);
    }
  }

  /** Decodes only what changes how the rest is sent. A group decodes its items when it is asked for them. */
  #take(head: EventHead): void {
    const part = partOf(head.type);
    if (part === "group") this.#groups.get(head.response ?? "")?.add(head);
    else if (part === "start") this.#begin(head);
    else if (part === "whole") this.#takeWhole(eventOf(head));
  }

  #begin(start: EventHead): void {
    this.#supersede(start.turn, start.step);
    const group = new Group(start);
    this.#groups.set(start.response ?? "", group);
    this.#entries.push(group);
  }

  #takeWhole(event: LoggedEvent): void {
    if (event.type === "settings") {
      this.#settings = event.settings;
      this.#generation += 1;
    } else if (event.type === "replay_override") {
      this.#overrides.push(event);
      this.#generation += 1;
    } else if (event.type === "user_message") this.#entries.push({ kind: "user", event });
  }

  #supersede(turn: string | undefined, step: number | undefined): void {
    for (let index = this.#entries.length - 1; index >= 0; index -= 1) {
      const entry = this.#entries[index];
      if (entry?.kind !== "group" || entry.head.turn !== turn || entry.head.step !== step) break;
      if (entry.superseded) break; // and so are all earlier attempts
      entry.superseded = true;
      // Only these were sent, in full or in part; the others were already omitted.
      if (entry.end?.status === "incomplete" || entry.end?.status === "completed") this.#generation += 1;
    }
  }
}

/** What an event of this type is for a request. The parts of groups and their starts are known by their heads. */
function partOf(type: LoggedEvent["type"]): "start" | "group" | "whole" | "nothing" {
  switch (type) {
    case "response_start":
      return "start";
    case "reasoning":
    case "assistant_message":
    case "tool_call":
    case "hosted_item":
    case "other_item":
    case "tool_start":
    case "tool_result":
    case "response_end":
      return "group";
    case "settings":
    case "replay_override":
    case "user_message":
      return "whole";
    case "session_start":
    case "title":
    case "partial":
    case "permission_request":
    case "permission_decision":
    case "permission_rule":
    case "elicitation_request":
    case "elicitation_answer":
    case "branch": // and compaction: the path is built again
    case "compaction":
    case "notice":
    case "turn_end":
    case "unknown":
      return "nothing";
    default:
      return assertNever(type, "event type");
  }
}

function overrideOf(head: EventHead): ReplayOverride {
  return eventOf(head) as ReplayOverride;
}

interface PlanContext extends GuardTarget {
  readonly allowed: ReadonlySet<Group> | undefined;
  readonly taken: TakenIds;
  readonly stay: ReadonlySet<string> | undefined;
}

function planEntry(entry: Entry, context: PlanContext): PlanEntry {
  if (entry.kind === "user" || entry.kind === "summary")
    return { kind: entry.kind, event: entry.event } as PlanEntry;
  const { settings, overrides, allowed, taken, stay = NO_CALLS } = context;
  const guarded = guardGroup(entry, {
    settings,
    overrides,
    policyAllows: allowed?.has(entry) ?? true,
    sentIds: taken.itemIds,
    sentCalls: taken.serverCalls,
    stay,
  });
  const items = guarded.items.map((item) => asSent(item, settings, taken.callIds));
  const results = resultsOf(entry, items, takesResultImages(context));
  return { kind: "group", group: entry, withIds: guarded.withIds, items, results };
}

/**
 * Maps the id of a call if the profile says that it is too long, or if it repeats abroad or in a profile whose ids
 * repeat. Maps its name if no API would accept it. The result is always the same (failures.md T05–T07, T15).
 */
function asSent(item: PlannedItem, settings: Settings, sent: ReadonlySet<string>): PlannedItem {
  if (item.event.type !== "tool_call" || item.action === "omit") return item;
  const { callId } = item.event;
  const { profile } = settings;
  const name = sendableToolName(item.event.name, (one) => isDeclared(one, settings));
  const mayRepeat = item.action === "replay" && !profile.callIdsRepeat;
  const stays =
    isCallId(callId, profile) &&
    (item.action === "replay" || isPlainId(callId)) &&
    (mayRepeat || !sent.has(callId));
  const { event, item: text, action, reason } = item; // by name: a spread costs several times as much
  const why = name === event.name ? item.why : `${item.why}; its tool name is sent as ${name}`;
  return {
    event,
    item: text,
    action,
    reason,
    why,
    callId: stays ? callId : mappedCallId(event, profile),
    name,
  };
}

function isDeclared(name: string, { tools, hosted }: Settings): boolean {
  return tools.some((tool) => tool.name === name) || hosted.some((tool) => tool["name"] === name);
}

/** Whether an id may go abroad. LiteLLM puts Gemini's signature into its ids (BerriAI/litellm#16895). */
function isPlainId(callId: string): boolean {
  return callId.length <= 64 && !callId.includes("__thought__");
}

/** All calls first, then all results in call order, with nothing in between (failures.md T03, T04). */
function resultsOf(
  group: Group,
  items: readonly PlannedItem[],
  withImages: boolean,
): readonly PlannedResult[] {
  return items.flatMap((item): readonly PlannedResult[] => {
    if (item.callId === undefined || item.action === "omit") return [];
    if (group.ranByProvider(item.event)) return [];
    const call = item.event as ToolCall;
    const result = group.resultOf(call.callId);
    const { text, status } = result ?? resultOfOpenCall(group, call);
    return [
      {
        callId: item.callId,
        text,
        failed: status !== "ok",
        images: withImages ? result?.parts : undefined,
        seq: result?.seq,
      },
    ];
  });
}

/** A model without vision, or one that has refused them, reads the text alone. */
function takesResultImages({ settings, overrides }: PlanContext): boolean {
  const { itemType, field } = RESULT_IMAGES;
  const refused = overrides.some(
    ({ what }) => what.kind === "field" && what.itemType === itemType && what.field === field,
  );
  return settings.capabilities.vision && !refused;
}

/** Ids that are already in the request. */
interface TakenIds {
  readonly itemIds: Set<string>;
  readonly callIds: Set<string>;
  /** Ids of calls that the provider runs, since the last message or summary. */
  readonly serverCalls: Set<string>;
}

const NO_CALLS: ReadonlySet<string> = new Set();

function copyOf({ itemIds, callIds, serverCalls }: TakenIds): TakenIds {
  return {
    itemIds: new Set(itemIds),
    callIds: new Set(callIds),
    serverCalls: new Set(serverCalls),
  };
}

function noIds(): TakenIds {
  return { itemIds: new Set(), callIds: new Set(), serverCalls: new Set() };
}

function takeIds(planned: PlanEntry, taken: TakenIds): void {
  if (planned.kind !== "group") {
    taken.serverCalls.clear();
    return;
  }
  for (const item of planned.items) {
    if (item.action === "omit") continue;
    if (planned.withIds && item.event.itemId !== undefined) taken.itemIds.add(item.event.itemId);
    if (item.callId !== undefined) taken.callIds.add(item.callId);
    const server = item.event.itemId === undefined ? serverBlockOf(item.event) : undefined;
    if (server?.part === "call") taken.serverCalls.add(server.id);
  }
}

/** The plans of the settled entries at the front. */
class PlanCache {
  static #revisions = 0;
  readonly settings: Settings;
  readonly generation: number;
  revision = 0;
  entries: PlanEntry[] = [];
  taken: TakenIds = noIds();

  constructor(settings: Settings, generation: number) {
    this.settings = settings;
    this.generation = generation;
    this.reset();
  }

  reset(): void {
    this.revision = PlanCache.#revisions += 1;
    this.entries = [];
    this.taken = noIds();
  }
}
