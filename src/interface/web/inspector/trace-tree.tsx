/** The rows of the trace as a tree: arrows move, open and close; Enter and a click lead to the block. */

import { useRef, useState } from "preact/hooks";

import { Icon, type IconName } from "../look/icons.tsx";
import type { TraceRow } from "./trace-rows.ts";
import { useShownWhen } from "./use-shown-when.ts";

interface Props {
  readonly rows: readonly TraceRow[];
  readonly workedMs: number;
  readonly blockOf: (row: TraceRow) => string | undefined;
  readonly selected: string | undefined;
  readonly onSelect: (block: string) => void;
  readonly onOpen: (id: string, open: boolean) => void;
}

export function TraceTree({ rows, workedMs, blockOf, selected, onSelect, onOpen }: Props) {
  const list = useRef<HTMLUListElement>(null);
  const [focused, setFocused] = useState<string>();
  // One row can be reached by Tab: the last one that had the focus or, if it is gone, the first.
  const current = rows.some(({ id }) => id === focused) ? focused : rows[0]?.id;
  const moveTo = (index: number): void => {
    const row = rows[index];
    if (row === undefined) return;
    setFocused(row.id);
    (list.current?.children[index] as HTMLElement | undefined)?.focus();
  };
  const choose = (row: TraceRow): void => {
    const block = blockOf(row);
    if (block !== undefined) onSelect(block);
    else if (row.open !== undefined) onOpen(row.id, !row.open);
  };
  const onKey = (event: KeyboardEvent, row: TraceRow, index: number): void => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const act = KEYS[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act({ row, index, rows, moveTo, choose, onOpen });
  };
  return (
    <ul class="trace" role="tree" aria-label="Turns, steps and what happened in them" ref={list}>
      {rows.map((row, index) => (
        <TreeRow
          key={row.id}
          row={row}
          workedMs={workedMs}
          isSelected={selected !== undefined && blockOf(row) === selected}
          tabIndex={row.id === current ? 0 : -1}
          onFocus={() => setFocused(row.id)}
          onKeyDown={(event) => onKey(event, row, index)}
          onClick={() => choose(row)}
          onToggle={() => onOpen(row.id, row.open !== true)}
        />
      ))}
    </ul>
  );
}

interface Move {
  readonly row: TraceRow;
  readonly index: number;
  readonly rows: readonly TraceRow[];
  readonly moveTo: (index: number) => void;
  readonly choose: (row: TraceRow) => void;
  readonly onOpen: (id: string, open: boolean) => void;
}

const KEYS: Readonly<Record<string, (move: Move) => void>> = {
  ArrowDown: ({ index, moveTo }) => moveTo(index + 1),
  ArrowUp: ({ index, moveTo }) => moveTo(index - 1),
  Home: ({ moveTo }) => moveTo(0),
  End: ({ rows, moveTo }) => moveTo(rows.length - 1),
  ArrowRight: ({ row, index, moveTo, onOpen }) => {
    if (row.open === false) onOpen(row.id, true);
    else if (row.open === true) moveTo(index + 1);
  },
  ArrowLeft: ({ row, rows, moveTo, onOpen }) => {
    if (row.open === true) onOpen(row.id, false);
    else moveTo(rows.findIndex(({ id }) => id === row.parent));
  },
  Enter: ({ row, choose }) => choose(row),
  " ": ({ row, choose }) => choose(row),
};

interface RowProps {
  readonly row: TraceRow;
  readonly workedMs: number;
  readonly isSelected: boolean;
  readonly tabIndex: number;
  readonly onFocus: () => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
  readonly onClick: () => void;
  readonly onToggle: () => void;
}

function TreeRow({ row, workedMs, isSelected, onToggle, ...rest }: RowProps) {
  const shown = useShownWhen<HTMLLIElement>(isSelected);
  return (
    <li
      ref={shown}
      role="treeitem"
      aria-level={row.level}
      aria-posinset={row.position}
      aria-setsize={row.siblings}
      aria-selected={isSelected}
      {...(row.open === undefined ? {} : { "aria-expanded": row.open })}
      class={`level-${row.level}${isSelected ? " selected" : ""}`}
      {...rest}
    >
      <span class="name">
        {row.open === undefined ? null : (
          <span
            class="chevron"
            onClick={(event) => {
              event.stopPropagation();
              onToggle();
            }}
          >
            <Icon name={row.open ? "down" : "right"} small />
          </span>
        )}
        <Sign sign={row.sign} />
        <span class="label" title={row.label}>
          {row.label}
        </span>
      </span>
      <span class="track" aria-hidden="true">
        <i class={row.bar.kind} style={placeOf(row.bar, workedMs)} />
      </span>
      <span class={`time${row.bad ? " bad" : ""}`}>{row.time}</span>
    </li>
  );
}

function placeOf({ from, to, kind }: TraceRow["bar"], workedMs: number): { left: string; width?: string } {
  const part = (ms: number): number => (workedMs === 0 ? 0 : Math.min(1, ms / workedMs));
  // The narrowest bar has 2 pixels, which must not stand out at the right.
  const left = `min(${(part(from) * 100).toFixed(3)}%, 100% - 2px)`;
  return kind === "wait" ? { left } : { left, width: `${((part(to) - part(from)) * 100).toFixed(3)}%` };
}

const SIGNS: Readonly<Record<NonNullable<TraceRow["sign"]>, readonly [IconName, word: string]>> = {
  thought: ["dot", ""],
  answer: ["dot", ""],
  ok: ["check", "Succeeded: "],
  bad: ["cross", "Failed: "],
  wait: ["clock", ""],
  live: ["dot", "Running: "],
};

function Sign({ sign }: { readonly sign: TraceRow["sign"] }) {
  if (sign === undefined) return null;
  const [icon, word] = SIGNS[sign];
  return (
    <>
      <Icon name={icon} class={`sign ${sign}`} />
      {word === "" ? null : <span class="visually-hidden">{word}</span>}
    </>
  );
}
