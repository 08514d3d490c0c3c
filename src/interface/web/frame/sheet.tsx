/** A modal sheet over the page. The browser keeps the focus inside it and closes it on Escape. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { IconButton } from "../look/icon-button.tsx";

interface Props {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

export function Sheet({ title, onClose, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class="sheet"
      aria-label={title}
      onClose={onClose}
      onClick={(event) => {
        // The dialog itself is hit only outside of its content.
        if (event.target === event.currentTarget) onClose();
      }}
    >
      <div class="sheet-content">
        <div class="sheet-head">
          <h2>{title}</h2>
          <IconButton icon="cross" name="Close" onClick={onClose} />
        </div>
        {children}
      </div>
    </dialog>
  );
}
