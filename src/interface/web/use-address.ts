/** Keeps the address and the title of the page in step with its content: `/s/ID#SEQ` is the block that shows an event. */

import { useEffect, useState } from "preact/hooks";

import { blockOfSeq, eventsOf } from "./block-events.ts";
import type { SessionView } from "./session-view.ts";

/** Selects the block of the event in the address once the event has arrived. */
export function useAddress(view: SessionView, onSelect: (id: string | undefined) => void): void {
  const [wanted, setWanted] = useState(seqInAddress);
  useEffect(() => {
    const look = (): void => setWanted(seqInAddress());
    addEventListener("hashchange", look);
    return () => removeEventListener("hashchange", look);
  }, []);
  const found = wanted === undefined ? undefined : blockOfSeq(wanted, view.blocks, view.events)?.id;
  useEffect(() => {
    if (found !== undefined) onSelect(found);
    // Only once per address; afterwards the reader chooses.
  }, [found, wanted]);
}

export function tellAddress(view: SessionView, block: string): void {
  const chosen = view.blocks.find(({ id }) => id === block);
  const seq = chosen === undefined ? undefined : eventsOf(chosen, view.events)[0]?.seq;
  if (seq !== undefined) history.replaceState(null, "", `#${seq}`);
}

export function useTitle(view: SessionView): void {
  const name = view.handle.title ?? "New session";
  const { busy } = view;
  useEffect(() => {
    document.title = `${busy ? "● " : ""}${name} – Throughline`;
  }, [name, busy]);
}

function seqInAddress(): number | undefined {
  const found = /^#(\d{1,15})$/.exec(location.hash)?.[1];
  return found === undefined ? undefined : Number(found);
}
