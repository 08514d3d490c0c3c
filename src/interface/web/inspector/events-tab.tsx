/** The log, event by event, as it grows. Events of a branch that was left lead back to it. */

import { useMemo, useState } from "preact/hooks";

import type { LoggedEvent } from "../../../base/events/index.ts";
import { leftBehind } from "../../../runtime/facts/index.ts";
import { Icon } from "../look/icons.tsx";
import { Problem } from "../look/problem.tsx";
import type { SessionView } from "../session-view.ts";
import { useProblem } from "../use-problem.ts";
import { blockIndex } from "./event-index.ts";
import { counted } from "./figures.ts";
import { RawValue } from "./raw-value.tsx";
import { useRefresh } from "./use-refresh.ts";

interface Props {
  readonly view: SessionView;
  readonly selected: string | undefined;
  readonly onSelect: (block: string) => void;
}

const EVENTS_AT_ONCE = 300;

export function EventsTab({ view, selected, onSelect }: Props) {
  useRefresh(view);
  const [most, setMost] = useState(EVENTS_AT_ONCE);
  const [open, setOpen] = useState<number>();
  const { problem, attempt } = useProblem();
  const { events, handle, facts } = view;
  const left = useMemo(() => leftBehind(events), [facts, events.length]);
  const blocks = useMemo(() => blockIndex(view.blocks), [facts, events.length, view.blocks.length]);
  if (events.length === 0) return <p class="empty">No events yet.</p>;
  const hidden = Math.max(0, events.length - most);
  const goTo = (to: number): void => attempt(() => handle.checkout({ to }));
  const toggle = (event: LoggedEvent): void => {
    const opens = open !== event.seq;
    setOpen(opens ? event.seq : undefined);
    const block = blocks.ofEvent(event);
    if (opens && block !== undefined) onSelect(block);
  };
  return (
    <>
      <div class="section">
        <h2>{counted(events.length, "event")}</h2>
        {view.busy ? <span class="meta">a turn runs</span> : null}
      </div>
      <Problem problem={problem} />
      {hidden === 0 ? null : (
        <button type="button" class="link earlier" onClick={() => setMost(most + EVENTS_AT_ONCE)}>
          Show earlier events ({hidden.toLocaleString("en")})
        </button>
      )}
      <ol class="event-list">
        {events.slice(hidden).map((event) => {
          const block = blocks.ofEvent(event);
          const isOpen = open === event.seq;
          const isLeft = left.has(event.seq);
          return (
            <li key={event.seq} class={block !== undefined && block === selected ? "selected" : ""}>
              <button type="button" class="event" aria-expanded={isOpen} onClick={() => toggle(event)}>
                <span class="number">{event.seq}</span>
                <span class="type">{event.type === "unknown" ? event.unknownType : event.type}</span>
                {isLeft ? <span class="left">on another branch</span> : null}
                <span class="at">{timeOfDay(event.at)}</span>
                <Icon name={isOpen ? "down" : "right"} small />
              </button>
              {isOpen ? (
                <div class="event-open">
                  {isLeft && event.turn !== undefined && handle.access === "write" ? (
                    <button type="button" class="button" onClick={() => goTo(event.seq)}>
                      Switch to this branch
                    </button>
                  ) : null}
                  <RawValue json={JSON.stringify(event)} label={`Event ${event.seq}`} initially="json">
                    Event {event.seq}
                  </RawValue>
                </div>
              ) : null}
            </li>
          );
        })}
      </ol>
    </>
  );
}

function timeOfDay(at: string): string {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? "" : time.toLocaleTimeString("en-GB");
}
