/**
 * The turns of a log as a tree: which came after which, where branches part, which are on the active path. Pure.
 */

import type { LoggedEvent } from "../../base/events/index.ts";
import { activePath, contentText } from "../fold/index.ts";

export interface TreeTurn {
  readonly turn: string;
  /** Its first event. */
  readonly seq: number;
  /** Its last event: where `checkout` leads. */
  readonly end: number;
  readonly text: string;
  readonly status: string;
  /** How it came to be: a message, or what a branch was made for. */
  readonly why: "message" | "retry" | "edit";
  readonly active: boolean;
  /** A compaction stands between it and the turn before. */
  readonly compacted: boolean;
  readonly children: readonly TreeTurn[];
}

interface Node extends Omit<TreeTurn, "children"> {
  readonly children: Node[];
}

export function treeOf(events: readonly LoggedEvent[]): readonly TreeTurn[] {
  const onPath = new Set(activePath(events).map(({ seq }) => seq));
  const nodes = new Map<string, Node>();
  const parents = new Map<string, string | undefined>();
  const roots: Node[] = [];
  for (const turn of turnsOf(events)) {
    const own = events.filter((event) => event.turn === turn);
    const [first] = own;
    const last = own.at(-1);
    if (first === undefined || last === undefined || isAside(own)) continue;
    const before = pathBefore(events, first);
    const parent = parentOf(before, nodes, parents);
    const node = nodeOf(turn, own, { before, parent, active: onPath.has(last.seq) });
    nodes.set(turn, node);
    parents.set(turn, parent);
    const siblings = parent === undefined ? roots : (nodes.get(parent)?.children ?? roots);
    siblings.push(node);
  }
  return roots;
}

function turnsOf(events: readonly LoggedEvent[]): ReadonlySet<string> {
  return new Set(events.flatMap(({ turn }) => (turn === undefined ? [] : [turn])));
}

/** A turn of the runtime's own is no turn of the conversation. */
function isAside(own: readonly LoggedEvent[]): boolean {
  return own.some(
    (event) =>
      (event.type === "user_message" && event.purpose !== undefined) ||
      (event.type === "branch" && event.why === "compaction"),
  );
}

/** The path a turn began on: what its own branch leads back to, or what was there. */
function pathBefore(events: readonly LoggedEvent[], first: LoggedEvent): readonly LoggedEvent[] {
  const included = first.type === "branch" ? first.seq + 1 : first.seq;
  return activePath(events.slice(0, included)).filter(({ seq }) => seq !== first.seq);
}

/** The last whole turn before it: one that was cut into is a sibling, not a parent. */
function parentOf(
  before: readonly LoggedEvent[],
  nodes: ReadonlyMap<string, Node>,
  parents: ReadonlyMap<string, string | undefined>,
): string | undefined {
  const last = before.findLast(({ turn }) => turn !== undefined && nodes.has(turn))?.turn;
  if (last === undefined) return undefined;
  const whole = before.some((event) => event.type === "turn_end" && event.turn === last);
  return whole ? last : parents.get(last);
}

function nodeOf(
  turn: string,
  own: readonly LoggedEvent[],
  facts: {
    readonly before: readonly LoggedEvent[];
    readonly parent: string | undefined;
    readonly active: boolean;
  },
): Node {
  const message =
    own.find((event) => event.type === "user_message") ??
    facts.before.findLast((event) => event.type === "user_message" && event.by === "person");
  const end = own.find((event) => event.type === "turn_end");
  const [first] = own;
  const why =
    first?.type === "branch" && (first.why === "retry" || first.why === "edit") ? first.why : "message";
  const since = facts.before.findLastIndex(
    (event) => event.turn !== undefined && event.turn === facts.parent,
  );
  return {
    turn,
    seq: first?.seq ?? 0,
    end: own.at(-1)?.seq ?? 0,
    text: message?.type === "user_message" ? contentText(message.content) : "",
    status: end?.status ?? "open",
    why,
    active: facts.active,
    compacted: facts.before.slice(since + 1).some((event) => event.type === "compaction"),
    children: [],
  };
}
