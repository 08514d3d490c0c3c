/** The selected block: who made it, what the next request does with each of its events, and which requests carried it. */

import type { Decision } from "../../../access/client/index.ts";
import type { LoggedEvent, Origin } from "../../../base/events/index.ts";
import type { RequestFacts } from "../../../runtime/facts/index.ts";
import type { Block } from "../../fragments/index.ts";
import type { SessionView } from "../session-view.ts";
import { callTitle } from "./call-words.ts";
import { blockIndex } from "./event-index.ts";
import { rangesOf, shortTime, sizeWords } from "./figures.ts";
import { decisionsOf } from "./past-requests.ts";
import { RawValue } from "./raw-value.tsx";
import { sentAs } from "./sent-as.ts";
import { type Answer, useAnswer } from "./use-answer.ts";
import { askKey, useRefresh } from "./use-refresh.ts";
import { whySent } from "./why-sent.ts";
import { whyWords } from "./why-words.ts";

interface Props {
  readonly view: SessionView;
  readonly selected: string | undefined;
}

export function BlockTab({ view, selected }: Props) {
  useRefresh(view);
  const { facts, blocks, events } = view;
  const version = askKey(view);
  const next = useAnswer(facts.settings === undefined ? undefined : "next", version, () =>
    view.handle.explain(),
  );
  const carried = useAnswer(selected === undefined ? undefined : "carried", version, () =>
    requestsCarrying(view),
  );
  const block = blocks.find(({ id }) => id === selected);
  if (block === undefined)
    return (
      <p class="empty">
        Nothing is selected. Choose a row of another tab, or inspect a part of the conversation.
      </p>
    );
  const index = blockIndex([block]);
  const own = events.filter((event) => index.ofEvent(event) === block.id);
  const made = facts.requests.find(({ start }) => own.some(({ response }) => response === start.response));
  const decisions = new Map((next.value ?? []).map((one) => [one.seq, one]));
  return (
    <>
      <div class="section">
        <h2>{nameOf(block)}</h2>
        <span class="meta">
          {own.length === 0
            ? "not logged yet"
            : `${own.length === 1 ? "event" : "events"} ${rangesOf(own.map(({ seq }) => seq))}`}
        </span>
      </div>
      {made === undefined ? null : <MadeBy request={made} />}
      {own.map((event) => (
        <EventFacts
          key={event.seq}
          event={event}
          block={block}
          inUse={view.handle.model.settings.target}
          made={made}
          decision={decisions.get(event.seq)}
          carried={carried.value?.get(event.seq)}
        />
      ))}
      <Problem answer={next} />
      <Problem answer={carried} />
      {own.length === 0 ? null : (
        <RawValue key={block.id} json={JSON.stringify(own)} label="The events of this block">
          Its events
        </RawValue>
      )}
    </>
  );
}

function nameOf(block: Block): string {
  switch (block.kind) {
    case "user":
      return block.by === "person" ? "Your message" : "Message of Throughline";
    case "reasoning":
      return block.durationMs === undefined ? "Thought" : `Thought for ${shortTime(block.durationMs)}`;
    case "text":
      return "Answer";
    case "tool":
      return callTitle(block);
    case "notice":
      return "Note";
    case "turn_end":
      return "End of the turn";
    default:
      return block satisfies never;
  }
}

function MadeBy({ request: { start, request, end } }: { readonly request: RequestFacts }) {
  const { origin, step, attempt, response } = start;
  return (
    <dl class="facts">
      <dt>Made by</dt>
      <dd>
        {origin.provider}/{origin.model} at {origin.endpoint}
      </dd>
      <dt>Answer to</dt>
      <dd>
        request {request}, step {step}, attempt {attempt}
        {end === undefined || end.status === "completed" ? "" : `, ${end.status}`}
      </dd>
      <dt>Response</dt>
      <dd class="mono">{response}</dd>
    </dl>
  );
}

interface EventProps {
  readonly event: LoggedEvent;
  readonly block: Block;
  /** Who the next request is for. */
  readonly inUse: Origin;
  readonly made: RequestFacts | undefined;
  readonly decision: Decision | undefined;
  readonly carried: readonly number[] | undefined;
}

function EventFacts({ carried, ...props }: EventProps) {
  const { event, decision } = props;
  return (
    <dl class="facts">
      <dt>Event {event.seq}</dt>
      <dd class="mono">{event.type === "unknown" ? event.unknownType : event.type}</dd>
      {"itemId" in event && event.itemId !== undefined ? (
        <>
          <dt>Item</dt>
          <dd>
            <span class="mono">{event.itemId}</span>, {sizeWords(event.item.length)}
          </dd>
        </>
      ) : null}
      <dt>Next request</dt>
      <dd>
        <NextWords {...props} />
      </dd>
      {decision === undefined ? null : (
        <>
          <dt>Sent in</dt>
          <dd>
            {carried === undefined
              ? "no request yet"
              : `${carried.length === 1 ? "request" : "requests"} ${rangesOf(carried)}`}
          </dd>
        </>
      )}
    </dl>
  );
}

function NextWords({ event, block, inUse, made, decision }: Omit<EventProps, "carried">) {
  if (decision === undefined) return <>no part of requests</>;
  if (decision.action === "omit")
    return (
      <>
        <span class="warn-text">not sent</span>: {whyWords(decision, block, inUse)}
      </>
    );
  return (
    <>
      sent as {sentAs(decision)}: {whySent(decision, event, { facts: made, thoughtful: false })}
    </>
  );
}

function Problem({ answer }: { readonly answer: Answer<unknown> }) {
  if (answer.problem === undefined) return null;
  return (
    <p class="proof" role="status">
      The server did not say what is sent: {answer.problem.message}.
    </p>
  );
}

/** Only the newest requests are asked for. */
const MOST_REQUESTS = 20;

/** Returns the requests that carried each event. */
async function requestsCarrying(view: SessionView): Promise<ReadonlyMap<number, readonly number[]>> {
  const asked = view.facts.requests.filter(({ imported }) => !imported).slice(-MOST_REQUESTS);
  const decided = await Promise.all(
    asked.map(async ({ request }) => ({ request, decisions: await decisionsOf(view, request) })),
  );
  const carried = new Map<number, number[]>();
  for (const { request, decisions } of decided)
    for (const { seq, action } of decisions) {
      if (action === "omit") continue;
      const known = carried.get(seq);
      if (known === undefined) carried.set(seq, [request]);
      else known.push(request);
    }
  return carried;
}
