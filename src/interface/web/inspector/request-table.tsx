/** The table of a request. On a phone its rows have two lines; the roles say that it is a table all the same. */

import { useState } from "preact/hooks";

import { Icon } from "../look/icons.tsx";
import { counted, sizeWords } from "./figures.ts";
import type { RequestRow } from "./request-rows.ts";
import { useShownWhen } from "./use-shown-when.ts";

interface Props {
  readonly label: string;
  readonly rows: readonly RequestRow[];
  readonly selected: string | undefined;
  readonly onSelect: (block: string) => void;
}

/** A browser is slow with more rows. */
const ROWS_AT_ONCE = 300;

export function RequestTable({ label, rows, selected, onSelect }: Props) {
  const [most, setMost] = useState(ROWS_AT_ONCE);
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const all = withRunsFolded(rows, opened);
  const hidden = Math.max(0, all.length - most);
  const shown = all.slice(hidden);
  return (
    <>
      {hidden === 0 ? null : (
        <button type="button" class="link earlier" onClick={() => setMost(most + ROWS_AT_ONCE)}>
          Show earlier items ({hidden.toLocaleString("en")})
        </button>
      )}
      <table class="request-table" role="table" aria-label={label}>
        <thead role="rowgroup">
          <tr role="row">
            <th role="columnheader" scope="col">
              Item
            </th>
            <th role="columnheader" scope="col">
              Sent as
            </th>
            <th role="columnheader" scope="col">
              Why
            </th>
          </tr>
        </thead>
        <tbody role="rowgroup">
          {shown.map((row) =>
            "run" in row ? (
              <RunRow key={row.key} row={row} onOpen={() => setOpened(new Set([...opened, row.key]))} />
            ) : (
              <ItemRow
                key={row.key}
                row={row}
                selected={row.block !== undefined && row.block === selected}
                onSelect={onSelect}
              />
            ),
          )}
        </tbody>
      </table>
    </>
  );
}

interface ItemProps {
  readonly row: RequestRow;
  readonly selected: boolean;
  readonly onSelect: (block: string) => void;
}

function ItemRow({ row, selected, onSelect }: ItemProps) {
  const { block } = row;
  const { label, more, nested, wire, sealed } = row.words();
  const shown = useShownWhen<HTMLTableRowElement>(selected);
  return (
    <tr
      ref={shown}
      role="row"
      class={`${selected ? "selected" : ""}${row.sent ? "" : " unsent"}${nested ? " nested" : ""}`}
    >
      <td role="cell">
        <Mark row={row} />
        {block === undefined ? (
          <span class="item" title={label}>
            {label}
          </span>
        ) : (
          <button
            type="button"
            class="item"
            title={label}
            aria-pressed={selected}
            onClick={() => onSelect(block)}
          >
            {label}
          </button>
        )}
        {more === undefined || more === "" ? null : (
          <span class="more" title={more}>
            {more}
          </span>
        )}
      </td>
      <td role="cell" title={wire}>
        <span class={row.sent ? "" : "not-sent"}>{row.sentAs}</span>
        {sealed === undefined ? null : (
          <span class="sealed">
            <Icon name="lock" small />
            {sizeWords(sealed)} sealed
          </span>
        )}
      </td>
      <td role="cell">{row.why}</td>
    </tr>
  );
}

const MARKS = {
  new: { sign: "+", word: "New: " },
  gone: { sign: "−", word: "Gone: " },
} as const;

function Mark({ row: { change, sent } }: { readonly row: Pick<RequestRow, "change" | "sent"> }) {
  if (change === undefined)
    return sent ? null : (
      <span class="mark">
        <Icon name="slash" small />
      </span>
    );
  const { sign, word } = MARKS[change];
  return (
    <span class={`mark ${change}`}>
      <span aria-hidden="true">{sign}</span>
      <span class="visually-hidden">{word}</span>
    </span>
  );
}

interface Run {
  readonly run: readonly RequestRow[];
  readonly key: string;
}

function RunRow({ row: { run }, onOpen }: { readonly row: Run; readonly onOpen: () => void }) {
  const [first] = run;
  if (first === undefined) return null;
  return (
    <tr role="row" class="unsent">
      <td role="cell">
        <Mark row={first} />
        <button type="button" class="item" aria-expanded="false" onClick={onOpen}>
          {counted(run.length, "item")}
        </button>
        <span class="more">show them</span>
      </td>
      <td role="cell">
        <span class="not-sent">not sent</span>
      </td>
      <td role="cell">{first.why}</td>
    </tr>
  );
}

const SHORTEST_RUN = 4;

/** Everything before a summary is left out for one reason, which one row can say. */
function withRunsFolded(
  rows: readonly RequestRow[],
  opened: ReadonlySet<string>,
): readonly (RequestRow | Run)[] {
  const folded: (RequestRow | Run)[] = [];
  for (let at = 0; at < rows.length;) {
    const first = rows[at] as RequestRow;
    let end = at + 1;
    while (first.wholesale === true && alike(first, rows[end])) end += 1;
    const run = rows.slice(at, end);
    const key = `run ${first.key}`;
    if (run.length >= SHORTEST_RUN && !opened.has(key)) folded.push({ run, key });
    else folded.push(...run);
    at = end;
  }
  return folded;
}

function alike(a: RequestRow, b: RequestRow | undefined): boolean {
  return b?.wholesale === true && b.why === a.why && b.change === a.change;
}
