/**
 * The log, event by event, as it grows.
 *
 * @module
 */

import { useState } from "preact/hooks";

import type { LoggedEvent } from "../../src/events/index.ts";
import { Raw } from "./raw.tsx";

/** Older ones are in the export; a page with all of a long log would not move. */
const SHOWN = 300;

export function EventList({
  events,
  live,
}: {
  readonly events: readonly LoggedEvent[];
  readonly live: boolean;
}) {
  const [open, setOpen] = useState<number>();
  const shown = events.slice(-SHOWN);
  return (
    <section>
      <h2>Events {live ? <span class="live">live ●</span> : null}</h2>
      {events.length > SHOWN ? (
        <p class="empty">
          The last {SHOWN} of {events.length}.
        </p>
      ) : null}
      <ol class="events">
        {shown.map((event) => (
          <li key={event.seq}>
            <button
              type="button"
              aria-expanded={open === event.seq}
              onClick={() => setOpen(open === event.seq ? undefined : event.seq)}
            >
              <span class="seq">{event.seq}</span> {event.type}
            </button>
            {open === event.seq ? <Raw value={event} label={`Event ${event.seq}`} /> : null}
          </li>
        ))}
      </ol>
    </section>
  );
}
