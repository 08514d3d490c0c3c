/** The turns of a log as a tree: which follows which, where branches split, which are on the active path. Pure. */

import type { LoggedEvent, TurnEnd, UserMessage } from "../../base/events/index.ts";
import { activePath, contentText, eventsBefore } from "../fold/index.ts";

/** A turn in the tree of a log. */
export interface TreeTurn {
  readonly turn: string;
  /** Its first event. */
  readonly seq: number;
  /** Its last event, where `checkout` leads. */
  readonly end: number;
  /** The text of its message. */
  readonly text: string;
  /** How it ended, or "open". */
  readonly status: string;
  /** How it began: with a new message, or on a branch that a retry or an edit made. */
  readonly why: "message" | "retry" | "edit";
  /** The sessions of the sub-agents that its calls ran. */
  readonly subAgents: readonly string[];
  /** Whether it is on the active path. */
  readonly active: boolean;
  /** Whether a compaction lies between it and the turn before. */
  readonly compacted: boolean;
  readonly children: readonly TreeTurn[];
}

interface Node extends Omit<TreeTurn, "children"> {
  readonly children: Node[];
}

/** Returns the turns of a log as a tree: which followed which, and which are on the active path. */
export function buildTree(events: readonly LoggedEvent[]): readonly TreeTurn[] {
  const onPath = new Set(activePath(events).map(({ seq }) => seq));
  const turns = turnsOf(events);
  const before = eventsBefore(events);
  const stands: Standing[] = [];
  const nodes = new Map<string, Placed>();
  const roots: Node[] = [];
  for (const [index, event] of events.entries()) {
    const own = event.turn === undefined ? undefined : turns.get(event.turn);
    const at = stands[before[index] ?? -1] ?? NOWHERE;
    if (own?.first === event && !own.aside) {
      const whole = at.turn === undefined || at.ended === at.turn;
      // A turn that was cut into is a sibling, not a parent.
      const cut = whole || at.turn === undefined ? undefined : nodes.get(at.turn);
      const parent = cut === undefined ? at.turn : cut.parent;
      const since = cut === undefined ? at.turnAt : cut.since;
      const node = nodeOf(own, at, { compacted: at.compactedAt > since, active: onPath.has(own.last.seq) });
      nodes.set(node.turn, { node, parent, since });
      (parent === undefined ? roots : (nodes.get(parent)?.node.children ?? roots)).push(node);
    }
    stands.push(standingAt(event, index, at, own));
  }
  return roots;
}

interface Placed {
  readonly node: Node;
  readonly parent: string | undefined;
  /** The last event of its parent. */
  readonly since: number;
}

interface OwnEvents {
  readonly turn: string;
  readonly first: LoggedEvent;
  last: LoggedEvent;
  message: UserMessage | undefined;
  end: TurnEnd | undefined;
  readonly subAgents: string[];
  /** A turn that the runtime itself started is not a turn of the conversation. */
  aside: boolean;
}

function turnsOf(events: readonly LoggedEvent[]): ReadonlyMap<string, OwnEvents> {
  const turns = new Map<string, OwnEvents>();
  for (const event of events) {
    const { turn } = event;
    // Settings that were logged ahead of a turn do not begin it.
    if (turn === undefined || (event.type === "settings" && !turns.has(turn))) continue;
    const made = {
      turn,
      first: event,
      last: event,
      message: undefined,
      end: undefined,
      subAgents: [],
      aside: false,
    };
    const own: OwnEvents = turns.get(turn) ?? made;
    turns.set(turn, own);
    own.last = event;
    if (event.type === "user_message" && event.steer === undefined) own.message ??= event;
    if (event.type === "turn_end") own.end ??= event;
    if (event.type === "tool_result")
      own.subAgents.push(...(event.spent ?? []).map(({ session }) => session));
    own.aside ||=
      (event.type === "user_message" && event.purpose !== undefined) ||
      (event.type === "branch" && event.why === "compaction");
  }
  return turns;
}

/** What the path up to an event contains, as far as the next turn needs to know. */
interface Standing {
  /** The last turn of the conversation, and the index of its last event. */
  readonly turn: string | undefined;
  readonly turnAt: number;
  /** The last turn that has ended. */
  readonly ended: string | undefined;
  readonly compactedAt: number;
  /** The last message of a person that opened a turn. */
  readonly message: UserMessage | undefined;
}

const NOWHERE: Standing = {
  turn: undefined,
  turnAt: -1,
  ended: undefined,
  compactedAt: -1,
  message: undefined,
};

function standingAt(
  event: LoggedEvent,
  index: number,
  before: Standing,
  own: OwnEvents | undefined,
): Standing {
  // A notice may follow long after its turn, and settings may be logged ahead of it.
  const counts = own !== undefined && !own.aside && event.type !== "notice" && event.type !== "settings";
  return {
    turn: counts ? own.turn : before.turn,
    turnAt: counts ? index : before.turnAt,
    ended: counts && event.type === "turn_end" ? own.turn : before.ended,
    compactedAt: event.type === "compaction" ? index : before.compactedAt,
    message: isOpening(event) ? event : before.message,
  };
}

function isOpening(event: LoggedEvent): event is UserMessage {
  return event.type === "user_message" && event.by === "person" && event.steer === undefined;
}

function nodeOf(
  { turn, first, last, message, end, subAgents }: OwnEvents,
  before: Standing,
  facts: { readonly compacted: boolean; readonly active: boolean },
): Node {
  const asked = message ?? before.message;
  const retried = first.type === "branch" && (first.why === "retry" || first.why === "edit");
  return {
    turn,
    seq: first.seq,
    end: last.seq,
    text: asked === undefined ? "" : contentText(asked.content),
    status: end?.status ?? "open",
    why: retried ? first.why : "message",
    subAgents,
    active: facts.active,
    compacted: facts.compacted,
    children: [],
  };
}
