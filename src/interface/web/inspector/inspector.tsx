/**
 * Proof beside the conversation: requests item by item, the trace, plots, events and the selected block. Only the tab that
 * is shown computes anything.
 */

import { useRef } from "preact/hooks";

import { IconButton } from "../look/icon-button.tsx";
import type { SessionView } from "../session-view.ts";
import { BlockTab } from "./block-tab.tsx";
import { EventsTab } from "./events-tab.tsx";
import { PlotsTab } from "./plots-tab.tsx";
import type { RequestChoice } from "./request-choice.tsx";
import { RequestTab } from "./request-tab.tsx";
import { TraceTab } from "./trace-tab.tsx";

const TABS = {
  request: "Request",
  trace: "Trace",
  plots: "Plots",
  events: "Events",
  block: "Block",
} as const;

export type InspectorTab = keyof typeof TABS;

export type { RequestChoice } from "./request-choice.tsx";

interface Props {
  readonly view: SessionView;
  /** The block that is tinted in all tabs. */
  readonly selected: string | undefined;
  readonly tab: InspectorTab;
  readonly onTab: (tab: InspectorTab) => void;
  /** The request that the first tab shows. */
  readonly request: RequestChoice;
  readonly onRequest: (request: RequestChoice) => void;
  readonly onSelect: (block: string) => void;
  readonly onClose: () => void;
  /** It takes the place of the conversation, and so is the main part of the page. */
  readonly isAlone: boolean;
}

export function Inspector(props: Props) {
  const { view, selected, tab, onTab, request, onRequest, onSelect, onClose, isAlone } = props;
  const Place = isAlone ? "main" : "aside";
  return (
    <Place class="inspector" aria-label="Inspector">
      {isAlone ? <h1 class="visually-hidden">Inspector</h1> : null}
      <div class="inspector-head">
        <Tabs tab={tab} onTab={onTab} />
        <IconButton icon="cross" name="Close the inspector" onClick={onClose} />
      </div>
      <div
        id="inspector-panel"
        role="tabpanel"
        aria-labelledby={`inspector-${tab}`}
        tabIndex={0}
        class="inspector-panel"
        key={tab}
      >
        {tab === "request" ? (
          <RequestTab
            view={view}
            choice={request}
            onChoose={onRequest}
            selected={selected}
            onSelect={onSelect}
          />
        ) : null}
        {tab === "trace" ? <TraceTab view={view} selected={selected} onSelect={onSelect} /> : null}
        {tab === "plots" ? <PlotsTab view={view} /> : null}
        {tab === "events" ? <EventsTab view={view} selected={selected} onSelect={onSelect} /> : null}
        {tab === "block" ? <BlockTab view={view} selected={selected} /> : null}
      </div>
    </Place>
  );
}

const NAMES = Object.keys(TABS) as InspectorTab[];

function Tabs({ tab, onTab }: Pick<Props, "tab" | "onTab">) {
  const list = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent): void => {
    const to = { ArrowRight: NAMES.indexOf(tab) + 1, ArrowLeft: NAMES.indexOf(tab) - 1, Home: 0, End: -1 }[
      event.key
    ];
    const next = to === undefined ? undefined : NAMES.at(to % NAMES.length);
    if (next === undefined) return;
    event.preventDefault();
    onTab(next);
    (list.current?.children[NAMES.indexOf(next)] as HTMLElement | undefined)?.focus();
  };
  return (
    <div role="tablist" aria-label="Inspector" ref={list} onKeyDown={onKeyDown}>
      {NAMES.map((name) => (
        <button
          key={name}
          type="button"
          role="tab"
          id={`inspector-${name}`}
          aria-selected={tab === name}
          aria-controls="inspector-panel"
          tabIndex={tab === name ? 0 : -1}
          onClick={() => onTab(name)}
        >
          {TABS[name]}
        </button>
      ))}
    </div>
  );
}
