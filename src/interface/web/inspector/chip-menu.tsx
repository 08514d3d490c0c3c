/** A chip with a menu. The menu is the browser's own, invisible over the chip, so keys, phones and screen readers know it. */

import type { ComponentChildren } from "preact";

import { Icon } from "../look/icons.tsx";

interface Props {
  readonly label: string;
  readonly value: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
  readonly onChoose: (value: string) => void;
  /** What the chip shows. */
  readonly children: ComponentChildren;
  readonly class?: string | undefined;
}

export function ChipMenu({ label, value, options, onChoose, children, class: more = "" }: Props) {
  return (
    <span class={`chip chip-menu ${more}`}>
      {children}
      <Icon name="down" small />
      <select aria-label={label} value={value} onChange={(event) => onChoose(event.currentTarget.value)}>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </span>
  );
}
