/** The log, event by event, as it grows. */

import { useState } from "preact/hooks";

import { messageOf } from "../../../base/support/index.ts";
import { leftBehind } from "../../../runtime/facts/index.ts";
import type { SessionView } from "../session-view.ts";
import { Problem } from "./problem.tsx";
import { Raw } from "./raw.tsx";

/** Older events are in the export; a page with all events of a long log would be too slow. */
const SHOWN = 300;

export function EventList({ view }: { readonly view: SessionView }) {
  const [open, setOpen] = useState<number>();
  const [problem, setProblem] = useState<string>();
  const { events, handle } = view;
  const left = leftBehind(events);
  const live = handle.writer === "live";
  const goTo = (to: number): void => {
    handle.checkout({ to }).then(
      () => setProblem(undefined),
      (error: unknown) => setProblem(messageOf(error)),
    );
  };
  const shown = events.slice(-SHOWN);
  return (
    <section>
      <h2>Events {live ? <span class="live">live ●</span> : null}</h2>
      {events.length > SHOWN ? (
        <p class="empty">
          Showing the last {SHOWN} of {events.length}.
        </p>
      ) : null}
      {events.length === 0 ? <p class="empty">No events yet.</p> : null}
      <Problem text={problem} />
      <ol class="events">
        {shown.map((event) => (
          <li key={event.seq}>
            <button
              type="button"
              aria-expanded={open === event.seq}
              onClick={() => setOpen(open === event.seq ? undefined : event.seq)}
            >
              <span class="seq">{event.seq}</span> {event.type}
              {left.has(event.seq) ? <span class="left"> · on an abandoned branch</span> : null}
            </button>
            {open === event.seq &&
            left.has(event.seq) &&
            event.turn !== undefined &&
            handle.access === "write" ? (
              <button type="button" onClick={() => goTo(event.seq)}>
                Switch to this branch
              </button>
            ) : null}
            {open === event.seq ? <Raw value={event} label={`Event ${event.seq}`} /> : null}
          </li>
        ))}
      </ol>
    </section>
  );
}
