/**
 * A row of the line: a sign, a label, facts, and what unfolds below. Its actions stand beside the fold, not in it: a
 * control inside another is out of reach for assistive technology.
 */

import type { ComponentChildren } from "preact";

import { Icon, type IconName } from "../look/icons.tsx";

/** How a row went: its sign, its colour, and the word for screen readers. */
export type RowSign = "thought" | "live" | "ok" | "failed" | "asks" | "unsent" | "stopped" | "waiting";

const SIGNS: Readonly<Record<RowSign, readonly [icon: IconName | undefined, colour: string, word: string]>> =
  {
    thought: [undefined, "", ""],
    live: [undefined, "live", "in progress: "],
    ok: ["check", "ok", "done: "],
    failed: ["cross", "bad", "failed: "],
    asks: ["ask", "warn", "asks: "],
    unsent: ["slash", "warn", ""],
    stopped: ["stop", "", "stopped: "],
    waiting: ["clock", "", ""],
  };

export function Sign({ sign }: { readonly sign: RowSign }) {
  const [icon, colour] = SIGNS[sign];
  return (
    <span class={`node ${colour}${icon === undefined ? " point" : ""}`} aria-hidden="true">
      {icon === undefined ? <span class="dot" /> : <Icon name={icon} />}
    </span>
  );
}

interface Props {
  readonly id: string;
  readonly kind: "reasoning" | "tool";
  readonly sign: RowSign;
  readonly label: ComponentChildren;
  /** Facts in a quiet colour behind the label. */
  readonly meta?: ComponentChildren;
  /** At the right end. */
  readonly end?: string | undefined;
  readonly selected: boolean;
  readonly superseded: boolean;
  readonly open: boolean;
  readonly onToggle: (open: boolean) => void;
  readonly actions: ComponentChildren;
  /** Shown below the fold, whether it is open or not. */
  readonly below?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function LineRow(props: Props) {
  const { id, kind, sign, label, meta, end, selected, superseded, open, onToggle, actions, below, children } =
    props;
  const isLong = sign === "live" || sign === "unsent";
  return (
    <li
      class={`block row ${kind} is-${sign}${selected ? " selected" : ""}${superseded ? " superseded" : ""}${open ? " is-open" : ""}`}
      data-block={id}
      aria-current={selected ? "true" : undefined}
    >
      <details open={open} onToggle={(event) => onToggle(event.currentTarget.open)}>
        <summary class={isLong ? "two-lines" : ""}>
          <Sign sign={sign} />
          <span class="label">
            <span class="visually-hidden">{SIGNS[sign][2]}</span>
            {label}
          </span>
          {meta === undefined ? null : <span class="meta">{meta}</span>}
          <Icon name="right" small class="chevron" />
          {end === undefined ? null : <span class="end">{end}</span>}
        </summary>
        <div class="row-body">{children}</div>
      </details>
      <div class={end === undefined ? "row-actions" : "row-actions before-end"}>{actions}</div>
      {below}
    </li>
  );
}
