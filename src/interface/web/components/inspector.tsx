/**
 * Inspects a block: its item, which model produced it, what the next request does with it and why, and in which requests
 * it was sent. Other tabs show the requests with the difference between two, the plots, and the events as they arrive.
 */

import { useEffect, useState } from "preact/hooks";

import type { RemoteAgent } from "../../../access/client/index.ts";
import type { SessionView } from "../session-view.ts";
import { useVersion } from "../use-version.ts";
import { BlockFacts } from "./block-facts.tsx";
import { EventList } from "./event-list.tsx";
import { Plots } from "./plots.tsx";
import { Requests } from "./requests.tsx";

const TABS = ["block", "requests", "plots", "events"] as const;
type Tab = (typeof TABS)[number];

interface Props {
  readonly agent: RemoteAgent;
  readonly view: SessionView;
  readonly selected: string | undefined;
}

export function Inspector({ agent, view, selected }: Props) {
  useVersion(view);
  const [tab, setTab] = useState<Tab>("requests");
  useEffect(() => {
    if (selected !== undefined) setTab("block");
  }, [selected]);
  return (
    <aside class="inspector-pane" aria-label="Inspector">
      <div role="tablist" aria-label="Inspector" class="inspector-tabs">
        {TABS.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${name}`}
            aria-selected={tab === name}
            aria-controls="inspector-panel"
            tabIndex={tab === name ? 0 : -1}
            onClick={() => setTab(name)}
            onKeyDown={(event) => {
              const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
              if (step === 0) return;
              const next = TABS[(TABS.indexOf(name) + step + TABS.length) % TABS.length] ?? "block";
              setTab(next);
              document.getElementById(`tab-${next}`)?.focus();
            }}
          >
            {name}
          </button>
        ))}
      </div>
      <div
        id="inspector-panel"
        role="tabpanel"
        aria-labelledby={`tab-${tab}`}
        tabIndex={0}
        class="inspector-panel"
      >
        {tab === "block" ? <BlockFacts agent={agent} view={view} selected={selected} /> : null}
        {tab === "requests" ? <Requests agent={agent} view={view} /> : null}
        {tab === "plots" ? <Plots requests={view.facts.requests} /> : null}
        {tab === "events" ? <EventList view={view} /> : null}
      </div>
    </aside>
  );
}
