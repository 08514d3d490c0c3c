/**
 * What a request had to carry, derived from the log by an independent reading of the laws, not by the code under test.
 *
 * @module
 */

import type {
  ItemEvent,
  LoggedEvent,
  Origin,
  ReplayOverride,
  Settings,
} from "../../src/base/events/index.ts";
import { sliceMember } from "../../src/base/support/index.ts";
import { idPrefixes } from "../../src/emulator/seal.ts";
import { onPath } from "./play.ts";

/** The listed rules by which reasoning of the target's own completed response may be omitted. */
export type Exception =
  | "override: the origin has refused it"
  | "replay policy"
  | "law 2: a response with an item of an unknown type"
  | "law 2: a response with a hosted item that cannot be replayed"
  | "law 2: a response with an empty message"
  | "law 2: a response with an id that cannot be sent back"
  | "law 2: a response with an id that is already in the request"
  | "law 3: reasoning without a follower"
  | "no payload ever arrived"
  | "prefix-bound target: its prefix has changed";

export interface ExpectedThought {
  readonly outputIndex: number;
  readonly ciphertext: string | undefined;
  readonly exception: Exception | undefined;
}

export interface ExpectedGroup {
  readonly response: string;
  readonly reasoning: readonly ExpectedThought[];
}

export interface Expected {
  readonly settings: Settings;
  /** The target's own completed responses on the active path, in order. */
  readonly groups: readonly ExpectedGroup[];
}

/** `events`: the log as it was before the request's own `response_start`. */
export function expectedOf(events: readonly LoggedEvent[]): Expected {
  const path = onPath(events);
  const settings = last(path, "settings")?.settings;
  if (settings === undefined) throw new Error("a request without settings");
  const cut = last(path, "compaction")?.before ?? -1;
  // An origin's refusal holds on every branch.
  const overrides = events.filter(
    (event): event is ReplayOverride =>
      event.type === "replay_override" && isSame(event.target, settings.target),
  );
  const facts = { path, settings, overrides, taken: new Set<string>() };
  const groups = path.flatMap((event) => {
    if (event.type !== "response_start" || event.seq < cut) return [];
    const group = groupOf(path, event.response);
    const superseded = path.some(
      (other) =>
        other.type === "response_start" &&
        other.seq > event.seq &&
        other.turn === event.turn &&
        other.step === event.step,
    );
    if (superseded || group.status !== "completed" || !isSame(event.origin, settings.target)) return [];
    return [expectedGroup(group, event.seq, facts)];
  });
  return { settings, groups };
}

interface Facts {
  readonly path: readonly LoggedEvent[];
  readonly settings: Settings;
  readonly overrides: readonly ReplayOverride[];
  readonly taken: Set<string>;
}

interface GroupFacts {
  readonly response: string;
  readonly items: readonly ItemEvent[];
  readonly status: string | undefined;
  readonly payloadOf: (item: ItemEvent) => string | undefined;
}

function groupOf(path: readonly LoggedEvent[], response: string): GroupFacts {
  const items = new Map<number, ItemEvent>();
  for (const event of path) {
    if ("item" in event && event.response === response && !items.has(event.outputIndex)) {
      items.set(event.outputIndex, event);
    }
  }
  const end = path.find((event) => event.type === "response_end" && event.response === response);
  const late = new Map(
    (end?.type === "response_end" ? (end.late ?? []) : []).map(({ outputIndex, item }) => [
      outputIndex,
      item,
    ]),
  );
  return {
    response,
    items: [...items.values()].toSorted((a, b) => a.outputIndex - b.outputIndex),
    status: end?.type === "response_end" ? end.status : undefined,
    payloadOf: (item) => {
      const text = sliceMember(late.get(item.outputIndex) ?? item.item, "encrypted_content");
      const value: unknown = text === undefined ? undefined : JSON.parse(text);
      return typeof value === "string" && value !== "" ? value : undefined;
    },
  };
}

function expectedGroup(group: GroupFacts, startSeq: number, facts: Facts): ExpectedGroup {
  const { profile } = facts.settings;
  const whole = exceptionOf(group, startSeq, facts);
  if (whole === undefined && profile.itemIds === "keep")
    for (const { itemId } of group.items) if (itemId !== undefined) facts.taken.add(itemId);
  const reasoning = group.items
    .filter((item) => item.type === "reasoning")
    .map((item) => ({
      outputIndex: item.outputIndex,
      ciphertext: group.payloadOf(item),
      exception: whole ?? withoutFollower(item, group, profile),
    }));
  return { response: group.response, reasoning };
}

function exceptionOf(
  group: GroupFacts,
  startSeq: number,
  { settings, overrides, taken, path }: Facts,
): Exception | undefined {
  const { response, items, payloadOf } = group;
  const { profile } = settings;
  const refused = overrides.some(
    ({ what, seq }) =>
      (what.kind === "all" && startSeq < seq) || (what.kind === "group" && what.response === response),
  );
  if (refused) return "override: the origin has refused it";
  if (settings.replay === "none") return "replay policy";
  const lastUser = path.findLast((event) => event.type === "user_message" && event.by === "person");
  if (settings.replay === "since_last_user" && startSeq < (lastUser?.seq ?? -1)) return "replay policy";
  if (items.some((item) => item.type === "reasoning" && payloadOf(item) === undefined))
    return "no payload ever arrived";
  if (profile.itemIds === "omit") return undefined;
  // The ids of later items name a thought that cannot be sent, so none of the response can.
  const lost = items.findIndex((item) => withoutFollower(item, group, profile) !== undefined);
  const named = items
    .slice(lost)
    .some((item) => !unsendable(item, profile) && withoutFollower(item, group, profile) === undefined);
  if (lost !== -1 && named) return withoutFollower(items[lost] as ItemEvent, group, profile);
  const sent = items.filter((item) => unsendable(item, profile) === undefined);
  const ids = sent.map((item) => item.itemId);
  if (!sent.every(hasValidId)) return "law 2: a response with an id that cannot be sent back";
  if (new Set(ids).size < ids.length || ids.some((id) => taken.has(id ?? "")))
    return "law 2: a response with an id that is already in the request";
  return undefined;
}

/** Why a thought has no follower: the next item cannot be sent, or there is none. */
function withoutFollower(
  item: ItemEvent,
  { items }: GroupFacts,
  profile: Settings["profile"],
): Exception | undefined {
  if (item.type !== "reasoning") return undefined;
  const follower = items.slice(items.indexOf(item)).find(({ type }) => type !== "reasoning");
  return follower === undefined ? "law 3: reasoning without a follower" : unsendable(follower, profile);
}

function unsendable(item: ItemEvent, profile: Settings["profile"]): Exception | undefined {
  if (item.type === "other_item") return "law 2: a response with an item of an unknown type";
  const hosted = item.type === "hosted_item";
  if (hosted && (profile.itemIds === "omit" || profile.hostedOmit.includes(item.itemType)))
    return "law 2: a response with a hosted item that cannot be replayed";
  if (item.type === "assistant_message" && item.text === "" && (item.refusal ?? "") === "")
    return "law 2: a response with an empty message";
  return undefined;
}

function hasValidId({ itemId, itemType }: ItemEvent): boolean {
  return (
    itemId !== undefined &&
    /^[\w-]{1,64}$/.test(itemId) &&
    itemId.startsWith(`${idPrefixes[itemType] ?? "item"}_`)
  );
}

export function isSame(a: Origin, b: Origin): boolean {
  return (
    a.provider === b.provider &&
    a.dialect === b.dialect &&
    a.model === b.model &&
    a.endpoint === b.endpoint &&
    a.credential === b.credential
  );
}

function last<Type extends LoggedEvent["type"]>(
  path: readonly LoggedEvent[],
  type: Type,
): Extract<LoggedEvent, { readonly type: Type }> | undefined {
  return path.findLast(
    (event): event is Extract<LoggedEvent, { readonly type: Type }> => event.type === type,
  );
}
