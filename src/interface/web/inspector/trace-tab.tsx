/** Turns, steps and what happened in them, on one clock of worked time; the plots of the same steps below. */

import { useMemo, useState } from "preact/hooks";

import { leftBehind } from "../../../runtime/facts/index.ts";
import type { SessionView } from "../session-view.ts";
import { blockIndex, eventAt } from "./event-index.ts";
import { Plots } from "./plots.tsx";
import { type TraceOptions, traceOf } from "./trace-rows.ts";
import { TraceTree } from "./trace-tree.tsx";
import { useRefresh } from "./use-refresh.ts";

interface Props {
  readonly view: SessionView;
  readonly selected: string | undefined;
  readonly onSelect: (block: string) => void;
}

const ROWS_AT_ONCE = 300;

export function TraceTab({ view, selected, onSelect }: Props) {
  useRefresh(view);
  const [opened, setOpened] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [most, setMost] = useState(ROWS_AT_ONCE);
  const { facts, events, blocks } = view;
  // Both read the whole session, and deltas change neither.
  const left = useMemo(() => leftBehind(events), [facts, events.length]);
  const index = useMemo(() => blockIndex(blocks), [facts, events.length, blocks.length]);
  if (facts.turns.size === 0) return <p class="empty">No turn has begun yet.</p>;
  const { head, times, workedMs, rows, cut } = traceOf(facts, {
    opened,
    most,
    busy: view.busy,
    generating: generatingIn(view),
    isLeft: (seq) => left.has(seq),
  });
  return (
    <>
      <div class="section">
        <h2>{head}</h2>
        <span class="meta">{times}</span>
      </div>
      {cut ? (
        <button type="button" class="link earlier" onClick={() => setMost(most + ROWS_AT_ONCE)}>
          Show earlier turns
        </button>
      ) : null}
      <TraceTree
        rows={rows}
        workedMs={workedMs}
        blockOf={({ seq, block }) => (seq === undefined ? block : index.ofEvent(eventAt(events, seq)))}
        selected={selected}
        onSelect={onSelect}
        onOpen={(id, open) => setOpened(new Map(opened).set(id, open))}
      />
      <Plots requests={facts.requests} />
    </>
  );
}

/** A thought or an answer becomes an event only when it is finished. */
function generatingIn({ busy, blocks }: SessionView): TraceOptions["generating"] {
  const last = busy ? blocks.at(-1) : undefined;
  if (last?.generating !== true) return undefined;
  if (last.kind === "reasoning") return { block: last.id, kind: "thought" };
  return last.kind === "text" ? { block: last.id, kind: "answer" } : undefined;
}
