/** The icons of the page (icons.css draws them). They are decoration: the control around them has the name. */

export type IconName =
  | "arrow-down"
  | "arrow-right"
  | "arrow-up"
  | "ask"
  | "away"
  | "back"
  | "check"
  | "clip"
  | "clock"
  | "copy"
  | "cross"
  | "dot"
  | "down"
  | "edit"
  | "file"
  | "fork"
  | "help"
  | "inspector"
  | "left"
  | "lock"
  | "menu"
  | "more"
  | "plus"
  | "retry"
  | "right"
  | "search"
  | "sessions"
  | "slash"
  | "stop"
  | "terminal";

interface Props {
  readonly name: IconName;
  readonly small?: boolean | undefined;
  readonly class?: string | undefined;
}

export function Icon({ name, small = false, class: more = "" }: Props) {
  return (
    <span
      class={`icon icon-${name}${small ? " small" : ""}${more === "" ? "" : ` ${more}`}`}
      aria-hidden="true"
    />
  );
}

/** The sign of the product: a point on a line. */
export function BrandMark() {
  return (
    <svg class="mark" viewBox="0 0 20 20" aria-hidden="true">
      <path d="M10 1.5v5M10 13.5v5" />
      <circle cx="10" cy="10" r="3.5" />
      <circle cx="10" cy="10" r=".75" fill="currentColor" />
    </svg>
  );
}
