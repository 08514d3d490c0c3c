/** The selected block: its events, its origin, what the next request does with each event and why, and where it was sent. */

import { useEffect, useState } from "preact/hooks";

import type { Decision, RemoteAgent } from "../../../access/client/index.ts";
import type { LoggedEvent, ResponseStart } from "../../../base/events/index.ts";
import { messageOf } from "../../../base/support/index.ts";
import { eventsOf } from "../block-events.ts";
import type { SessionView } from "../session-view.ts";
import { Problem } from "./problem.tsx";
import { Raw } from "./raw.tsx";

interface Props {
  readonly agent: RemoteAgent;
  readonly view: SessionView;
  readonly selected: string | undefined;
}

export function BlockFacts({ agent, view, selected }: Props) {
  const block = view.blocks.find(({ id }) => id === selected);
  const { decisions, sentIn, problem } = useDecisions(agent, view);
  if (block === undefined) return <p class="empty">Select a block (⋯) to inspect it.</p>;
  const events = eventsOf(block, view.events);
  const start = startOf(events, view.events);
  return (
    <section>
      <h2>{NAMES[block.kind]}</h2>
      <dl>
        {start === undefined ? null : (
          <>
            <dt>produced by</dt>
            <dd>
              {start.origin.provider}/{start.origin.model} at {start.origin.endpoint}
            </dd>
            <dt>response</dt>
            <dd>
              {start.response}, step {start.step}, attempt {start.attempt}
            </dd>
          </>
        )}
        {events.map((event) => {
          const decision = decisions.get(event.seq);
          return (
            <div key={event.seq} class="fact">
              <dt>
                event {event.seq} · {event.type}
              </dt>
              <dd>
                {"itemId" in event && event.itemId !== undefined ? (
                  <>
                    item <code>{event.itemId}</code>
                    <br />
                  </>
                ) : null}
                {decision === undefined
                  ? "not part of requests"
                  : `next request: ${decision.action} – ${decision.why}`}
                {decision === undefined ? null : <br />}
                {decision === undefined ? "" : sentTo(event.seq, sentIn)}
                {"item" in event ? ` · ${event.item.length} characters` : ""}
              </dd>
            </div>
          );
        })}
      </dl>
      <Problem text={problem} />
      <Raw value={events} label="Events of this block" />
    </section>
  );
}

const NAMES = {
  user: "Message",
  reasoning: "Reasoning",
  text: "Answer",
  tool: "Tool call",
  notice: "Notice",
  turn_end: "End of the turn",
} as const;

function sentTo(seq: number, sentIn: ReadonlyMap<number, readonly number[]>): string {
  const requests = sentIn.get(seq) ?? [];
  return requests.length === 0 ? "not sent yet" : `sent in request ${requests.join(", ")}`;
}

function startOf(own: readonly LoggedEvent[], events: readonly LoggedEvent[]): ResponseStart | undefined {
  const response = own.find((event) => event.response !== undefined)?.response;
  return events.find(
    (event): event is ResponseStart => event.type === "response_start" && event.response === response,
  );
}

interface Decided {
  readonly decisions: ReadonlyMap<number, Decision>;
  /** The requests in which each event was sent. */
  readonly sentIn: ReadonlyMap<number, readonly number[]>;
  readonly problem: string | undefined;
}

const NOTHING_DECIDED: Decided = { decisions: new Map(), sentIn: new Map(), problem: undefined };

/** Reloads the decisions when the log has grown, because the server makes them. */
function useDecisions(agent: RemoteAgent, view: SessionView): Decided {
  const [decided, setDecided] = useState(NOTHING_DECIDED);
  const { requests, settings } = view.facts;
  const ended = requests.filter(({ end }) => end !== undefined).length;
  useEffect(() => {
    let stale = false;
    const ask = async (): Promise<void> => {
      try {
        const found = await load(agent, view);
        if (!stale) setDecided(found);
      } catch (error) {
        if (!stale) setDecided((before) => ({ ...before, problem: messageOf(error) }));
      }
    };
    void ask();
    return () => {
      stale = true;
    };
  }, [agent, view, ended, settings]);
  return decided;
}

/** Only the newest requests are loaded. */
const MOST_REQUESTS = 20;

async function load(agent: RemoteAgent, view: SessionView): Promise<Decided> {
  const { handle } = view;
  if (view.facts.settings === undefined) return NOTHING_DECIDED;
  const next = await handle.explain();
  const requests = (await agent.requests(handle.id)).slice(-MOST_REQUESTS);
  const sentIn = new Map<number, number[]>();
  const told = await Promise.all(
    requests.map(async (one) => [one, await handle.explain({ request: one.request })] as const),
  );
  for (const [{ request }, decisions] of told) {
    for (const { seq, action } of decisions)
      if (action !== "omit") sentIn.set(seq, [...(sentIn.get(seq) ?? []), request]);
  }
  return { decisions: new Map(next.map((one) => [one.seq, one])), sentIn, problem: undefined };
}
