/** The blocks of a session, in order. Scrolls to new ones while the reader is at the end. */

import { useEffect, useRef } from "preact/hooks";

import type { SessionView } from "../session-view.ts";
import { useVersion } from "../use-version.ts";
import { BlockActions } from "./block-actions.tsx";
import { BlockItem } from "./block-item.tsx";

interface Props {
  readonly view: SessionView;
  readonly selected: string | undefined;
  readonly onSelect: (id: string) => void;
  readonly onOpen: (id: string) => void;
}

/** The distance from the end that counts as being at the end. */
const NEAR_PX = 80;

export function SessionBlocks({ view, selected, onSelect, onOpen }: Props) {
  const version = useVersion(view);
  const list = useRef<HTMLOListElement>(null);
  const atEnd = useRef(true);
  useEffect(() => {
    const element = list.current;
    if (element !== null && atEnd.current) element.scrollTop = element.scrollHeight;
  }, [version]);
  const chosen = useRef<HTMLLIElement>(null);
  const isThere = selected !== undefined && view.blocks.some(({ id }) => id === selected);
  useEffect(() => {
    if (!isThere) return;
    atEnd.current = false;
    chosen.current?.scrollIntoView({ block: "nearest" });
  }, [selected, isThere]);
  const blocks = view.blocks.filter((block) => !block.superseded);
  return (
    <ol
      ref={list}
      class="blocks"
      // A region that scrolls must be reachable by keyboard.
      tabIndex={0}
      aria-label="Messages"
      aria-busy={view.busy}
      onScroll={(event) => {
        const { scrollTop, scrollHeight, clientHeight } = event.currentTarget;
        atEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_PX;
      }}
    >
      {blocks.map((block) => (
        <li
          key={block.id}
          ref={block.id === selected ? chosen : null}
          class={`block ${block.kind}${block.id === selected ? " selected" : ""}`}
        >
          <BlockItem block={block} view={view} />
          <BlockActions
            block={block}
            view={view}
            selected={block.id === selected}
            onSelect={onSelect}
            onOpen={onOpen}
          />
        </li>
      ))}
      {blocks.length === 0 ? <li class="empty">Nothing here yet. Write a message below.</li> : null}
    </ol>
  );
}
