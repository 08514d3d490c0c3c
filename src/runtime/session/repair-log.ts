/**
 * Repairs a log whose next request breaks a numbered rule, because another program wrote it or someone edited it: finds
 * the smallest set of events that, once appended, make every later request acceptable. Nothing already written changes.
 *
 * For each response it uses the gentlest form that works: without its reasoning and ids, then as plain meaning, then
 * without the wrong call. A violation that no override can fix (a setting) is reported as remaining.
 */

import type { EventDraft, LoggedEvent, Settings } from "../../base/events/index.ts";
import { Fold } from "../fold/index.ts";
import { BlobCache, type Log, rootOf } from "../log/index.ts";
import {
  createRenderer,
  type RenderContext,
  type RenderedRequest,
  type Violation,
} from "../providers/index.ts";
import { type Correction, loosened, pathOf, sourcesAt } from "../turn/index.ts";

/** A violation of a rule and the event that corrects it. */
export interface RuleRepair {
  readonly violation: Violation;
  /** The model whose requests broke the rule. */
  readonly model: string;
  readonly correction: ReplayDraft | CutDraft;
}

type ReplayDraft = Extract<EventDraft, { readonly type: "replay_override" }>;
type CutDraft = Extract<EventDraft, { readonly type: "compaction" }>;

/** The events that repair a log, and what they cannot repair. */
export interface RepairPlan {
  /** To be appended in this order. Empty if nothing is wrong. */
  readonly drafts: readonly EventDraft[];
  readonly repairs: readonly RuleRepair[];
  /** Violations that no correction reaches. */
  readonly remaining: readonly { readonly violation: Violation; readonly model: string }[];
}

/**
 * Returns the events that, once appended, keep later requests from breaking a rule. Checks every model that the log was
 * sent to, since the next request may go to any of them.
 */
export async function planRepair(log: Log): Promise<RepairPlan> {
  const blobs = new BlobCache(log);
  await blobs.load();
  const context = { cacheKey: rootOf(log), blob: (name: string) => blobs.get(name) };
  const drafts: EventDraft[] = [];
  const repairs: RuleRepair[] = [];
  const remaining: RepairPlan["remaining"][number][] = [];
  for (const settings of targetsOf(log.events)) {
    const model = settings.target.model;
    const repairer = new Repairer([...log.events, ...stampedAfter(log.events, drafts)], settings, context);
    for (let next = repairer.next(); next !== undefined; next = repairer.next()) {
      if (next.correction === undefined) remaining.push({ violation: next.violation, model });
      else repairs.push({ violation: next.violation, model, correction: next.correction });
    }
    drafts.push(...repairer.drafts);
  }
  return { drafts: drafts.length === 0 ? [] : [...drafts, notice(repairs)], repairs, remaining };
}

/** The last settings for each origin, the current ones first. */
function targetsOf(events: readonly LoggedEvent[]): readonly Settings[] {
  const found = new Map<string, Settings>();
  for (const event of events.toReversed())
    if (event.type === "settings" && !found.has(JSON.stringify(event.settings.target)))
      found.set(JSON.stringify(event.settings.target), event.settings);
  return [...found.values()];
}

/** A person's next message: only with one does a request end as every request does. */
const NEXT: EventDraft = { type: "user_message", by: "person", content: [{ type: "text", text: "Go on." }] };

/** The rule that a conversation with Claude begins with a user message. */
const BEGINS_WITH_A_USER = "M16";
const LOST_FRONT = "(What was said before this is not in the log.)";

class Repairer {
  readonly drafts: EventDraft[] = [];
  readonly #events: readonly LoggedEvent[];
  readonly #settings: Settings;
  readonly #context: RenderContext;
  readonly #given = new Set<string>();

  constructor(events: readonly LoggedEvent[], settings: Settings, context: RenderContext) {
    this.#events = events;
    this.#settings = settings;
    this.#context = context;
  }

  /** The next broken rule, with its correction if there is one. */
  next(): { readonly violation: Violation; readonly correction?: RuleRepair["correction"] } | undefined {
    const rendered = this.#render();
    for (const violation of rendered.violations) {
      const correction =
        violation.rule === BEGINS_WITH_A_USER
          ? this.#firstWord(rendered)
          : this.#override(this.#correctionOf(violation, rendered), violation);
      if (correction !== undefined) {
        this.drafts.push(correction);
        return { violation, correction };
      }
      const told = JSON.stringify([violation.rule, violation.index, violation.part]);
      if (this.#given.has(told)) continue;
      this.#given.add(told);
      return { violation };
    }
    return undefined;
  }

  #render(): RenderedRequest {
    const fold = new Fold();
    fold.add(this.#events);
    fold.add(stampedAfter(this.#events, [...this.drafts, NEXT]));
    const plan = fold.plan(this.#settings);
    if (plan === undefined) throw new Error("there are settings, so there is a plan");
    return createRenderer(this.#settings.profile.dialect).render(plan, this.#context);
  }

  #correctionOf(violation: Violation, rendered: RenderedRequest): Correction | undefined {
    const found = sourcesAt(rendered, pathOf(violation, this.#settings.target.dialect));
    const callIds = new Set(found.flatMap(({ callId }) => callId ?? []));
    const responses = new Set([
      ...found.flatMap(({ response }) => response ?? []),
      ...[...callIds].flatMap((callId) => responseOf(rendered, callId) ?? []),
    ]);
    for (const response of responses) {
      const correction = loosened(rendered, response);
      if (correction !== undefined) return correction;
    }
    // As plain as possible and still refused: omit the call itself, with its result.
    const [callId] = callIds;
    if (callId === undefined || this.#given.has(`call ${callId}`)) return undefined;
    this.#given.add(`call ${callId}`);
    return { what: { kind: "call", callId }, action: "close_call" };
  }

  /** For a conversation that lost its first message: a short note replaces it. */
  #firstWord({ entries }: RenderedRequest): CutDraft | undefined {
    const first = entries.find((entry) => entry.kind === "group");
    if (first?.kind !== "group" || this.#given.has("first word")) return undefined;
    this.#given.add("first word");
    return { type: "compaction", before: first.group.start.seq, summary: LOST_FRONT };
  }

  #override(correction: Correction | undefined, { rule, message }: Violation): ReplayDraft | undefined {
    // A correction that did not help is not tried again, so this terminates whatever a renderer does.
    const key = JSON.stringify(correction);
    if (correction === undefined || this.#given.has(key)) return undefined;
    this.#given.add(key);
    const { what, action } = correction;
    const cause = { code: "rule_violation", message: `rule ${rule}: ${message}`.slice(0, 500) };
    return { type: "replay_override", what, action, target: this.#settings.target, cause };
  }
}

/** A result names its call, not its response. */
function responseOf({ entries }: RenderedRequest, callId: string): string | undefined {
  const entry = entries.find(
    (one) => one.kind === "group" && one.items.some((item) => item.callId === callId),
  );
  return entry?.kind === "group" ? entry.group.start.response : undefined;
}

/** Stamps drafts as the log would, except for ids and times, which no request shows. */
function stampedAfter(events: readonly LoggedEvent[], drafts: readonly EventDraft[]): readonly LoggedEvent[] {
  const last = events.at(-1);
  return drafts.map((draft, index): LoggedEvent => {
    const seq = events.length + index;
    return { v: 1, seq, id: `next_${seq}`, at: last?.at ?? "", epoch: last?.epoch ?? 1, ...draft };
  });
}

function notice(repairs: readonly RuleRepair[]): EventDraft {
  const rules = [...new Set(repairs.map(({ violation }) => violation.rule))].join(", ");
  return {
    type: "notice",
    code: "log_repaired",
    message: `the next request would have broken ${rules}: ${repairs.length} ${repairs.length === 1 ? "correction was" : "corrections were"} added by repair`,
  };
}
