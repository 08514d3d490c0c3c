/** A button and the panel it opens: closed by Escape, by a click elsewhere, and by leaving it with Tab. */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

interface Props {
  readonly name: string;
  readonly buttonClass: string;
  readonly button: ComponentChildren;
  readonly disabled?: boolean | undefined;
  /** A menu moves its focus by arrows. */
  readonly kind: "menu" | "panel";
  readonly children: (close: () => void) => ComponentChildren;
}

export function Popover({ name, buttonClass, button, disabled, kind, children }: Props) {
  const [open, setOpen] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const close = (): void => {
    setOpen(false);
    opener.current?.focus();
  };
  useLayoutEffect(() => {
    if (!open) return undefined;
    controls(place.current)[0]?.focus();
    const elsewhere = (event: Event): void => {
      if (event.target instanceof Node && place.current?.contains(event.target) === false) setOpen(false);
    };
    document.addEventListener("pointerdown", elsewhere);
    document.addEventListener("focusin", elsewhere);
    return () => {
      document.removeEventListener("pointerdown", elsewhere);
      document.removeEventListener("focusin", elsewhere);
    };
  }, [open]);
  return (
    <div
      ref={place}
      class="popover-place"
      onKeyDown={(event) => {
        if (!open) return;
        if (event.key === "Escape") close();
        else if (kind === "menu" && ARROWS.has(event.key)) move(place.current, event.key);
        else return;
        event.preventDefault();
        event.stopPropagation();
      }}
    >
      <button
        ref={opener}
        type="button"
        class={buttonClass}
        aria-label={name}
        title={name}
        aria-expanded={open}
        aria-haspopup={kind === "menu" ? "menu" : "dialog"}
        disabled={disabled}
        onClick={() => setOpen(!open)}
      >
        {button}
      </button>
      {open ? (
        <div class="popover" role={kind === "menu" ? "menu" : "dialog"} aria-label={name}>
          {children(close)}
        </div>
      ) : null}
    </div>
  );
}

const ARROWS: ReadonlySet<string> = new Set(["ArrowDown", "ArrowUp", "Home", "End"]);

function controls(place: HTMLElement | null): readonly HTMLElement[] {
  return [...(place?.querySelectorAll<HTMLElement>(".popover button:not(:disabled), .popover select") ?? [])];
}

function move(place: HTMLElement | null, key: string): void {
  const items = controls(place);
  const at = items.indexOf(document.activeElement as HTMLElement);
  const next = key === "Home" ? 0 : key === "End" ? items.length - 1 : at + (key === "ArrowDown" ? 1 : -1);
  items[(next + items.length) % items.length]?.focus();
}
