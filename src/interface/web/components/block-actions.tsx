/** The actions on a block: inspect it, copy it as Markdown, fork the session after it. */

import { useEffect, useState } from "preact/hooks";

import type { Block } from "../../fragments/index.ts";
import { eventsOf, markdownOf } from "../block-events.ts";
import type { SessionView } from "../session-view.ts";

interface Props {
  readonly block: Block;
  readonly view: SessionView;
  readonly selected: boolean;
  readonly onSelect: (id: string) => void;
  readonly onOpen: (id: string) => void;
}

/** How long the outcome is shown. */
const TOLD_MS = 1500;

export function BlockActions({ block, view, selected, onSelect, onOpen }: Props) {
  const [told, setTold] = useState<string>();
  useEffect(() => {
    if (told === undefined) return undefined;
    const timer = setTimeout(() => setTold(undefined), TOLD_MS);
    return () => clearTimeout(timer);
  }, [told]);
  const copy = (): void => {
    navigator.clipboard.writeText(markdownOf(block)).then(
      () => setTold("copied"),
      () => setTold("not copied"),
    );
  };
  const fork = (): void => {
    const at = eventsOf(block, view.events).at(-1)?.seq;
    if (at === undefined) return;
    view.handle.fork({ at }).then(
      ({ id }) => onOpen(id),
      () => setTold("not forked"),
    );
  };
  const isEnd = block.kind === "turn_end";
  return (
    <div class="block-actions">
      {told === undefined ? null : (
        <span class="told" role="status">
          {told}
        </span>
      )}
      {isEnd ? (
        <button type="button" title="Fork the session here" aria-label="Fork the session here" onClick={fork}>
          fork
        </button>
      ) : (
        <button
          type="button"
          title="Copy as Markdown"
          aria-label={`Copy this ${block.kind} block`}
          onClick={copy}
        >
          copy
        </button>
      )}
      <button
        type="button"
        title="Inspect this block"
        aria-pressed={selected}
        aria-label={`Inspect this ${block.kind} block`}
        onClick={() => onSelect(block.id)}
      >
        ⋯
      </button>
    </div>
  );
}
