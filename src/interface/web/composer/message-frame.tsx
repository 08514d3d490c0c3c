/**
 * The frame in which a message is written: what waits above the text, the field, the images, and the row of buttons. It
 * knows drafts, and nothing of sessions: the first start and the page without a server use it too.
 */

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import { Icon } from "../look/icons.tsx";
import { DraftImages } from "./draft-images.tsx";
import type { Draft } from "./drafts.ts";
import { IMAGE_TYPES } from "./image-files.ts";
import { useAttaching, useDraft } from "./use-draft.ts";

interface Props {
  readonly draft: Draft;
  readonly placeholder: string;
  /** Nothing can be sent here, but what was typed can be read and copied. */
  readonly isBlocked?: boolean | undefined;
  /** Above the text, in the same frame. */
  readonly queue?: ComponentChildren;
  readonly hint?: string | undefined;
  /** The hint names keys, which a phone has not. */
  readonly isHintOfKeys?: boolean | undefined;
  readonly buttons: ComponentChildren;
  /** On a phone everything is in one row. */
  readonly isSmall?: boolean | undefined;
  /** Replaces how typed words are kept. */
  readonly onWords?: ((text: string, caret: readonly [number, number]) => void) | undefined;
  readonly onSend: (event: { readonly now: boolean }) => void;
  readonly onStop?: (() => void) | undefined;
}

const LINE = 24;
const MOST_LINES = 8;
/** Longer texts fill eight lines at any width, and measuring them takes long. */
const SURELY_FULL = 2000;

export function MessageFrame(props: Props) {
  const { placeholder, isBlocked = false, queue, hint, buttons, isSmall = false, onSend, onStop } = props;
  const draft = useDraft(props.draft);
  const { text, caret, images } = draft.value;
  const field = useRef<HTMLTextAreaElement>(null);
  const chooser = useRef<HTMLInputElement>(null);
  const attaching = useAttaching(draft);
  const isDropping = useDrop(isBlocked ? undefined : attaching.add);
  useCaret(field, draft);
  useLayoutEffect(() => {
    if (field.current !== null) grow(field.current);
  }, [text, isSmall]);
  useEffect(() => {
    const again = (): void => {
      if (field.current !== null) grow(field.current);
    };
    addEventListener("resize", again);
    return () => removeEventListener("resize", again);
  }, []);
  useLayoutEffect(() => {
    const { current } = field;
    // Another tab or a message that was taken back moved it; typing moves both.
    if (current === null || (current.selectionStart === caret[0] && current.selectionEnd === caret[1]))
      return;
    current.setSelectionRange(caret[0], caret[1]);
  }, [text]);
  const keep = (element: HTMLTextAreaElement): void => {
    const at = [element.selectionStart, element.selectionEnd] as const;
    if (props.onWords === undefined) draft.change({ text: element.value, caret: at });
    else props.onWords(element.value, at);
  };
  return (
    <div class="message-frame" data-small={isSmall} data-dropping={isDropping}>
      {queue}
      <DraftImages images={images} onRemove={attaching.remove} />
      <textarea
        ref={field}
        class="message-field"
        aria-label="Your message"
        placeholder={placeholder}
        rows={1}
        value={text}
        readOnly={isBlocked}
        onInput={(event) => keep(event.currentTarget)}
        onPaste={(event) => {
          const { files = [], types = [] } = event.clipboardData ?? {};
          if (isBlocked || files.length === 0 || types.includes("text/plain")) return;
          event.preventDefault();
          attaching.add([...files]);
        }}
        onKeyDown={(event) => {
          if (event.isComposing || event.keyCode === 229) return; // the key belongs to the input method
          if (event.key === "Enter" && !event.shiftKey) {
            event.preventDefault();
            onSend({ now: event.ctrlKey || event.metaKey });
          }
          if (event.key === "Escape") onStop?.();
        }}
      />
      <div class="message-bar">
        <button
          type="button"
          class="icon-button attach"
          aria-label="Attach an image"
          title="Attach an image"
          disabled={isBlocked}
          onClick={() => chooser.current?.click()}
        >
          <Icon name="clip" />
          <Icon name="plus" />
        </button>
        <input
          ref={chooser}
          type="file"
          hidden
          multiple
          accept={IMAGE_TYPES}
          onChange={(event) => {
            attaching.add([...(event.currentTarget.files ?? [])]);
            event.currentTarget.value = ""; // so that the same file can be chosen again
            field.current?.focus();
          }}
        />
        <span class={props.isHintOfKeys === true ? "message-hint keys" : "message-hint"}>{hint}</span>
        {buttons}
      </div>
      <p class="message-note" role="status">
        {attaching.problem ?? draft.problem}
      </p>
    </div>
  );
}

/** Eight lines, then it scrolls. */
function grow(field: HTMLTextAreaElement): void {
  const style = getComputedStyle(field);
  const around = Number.parseFloat(style.paddingTop) + Number.parseFloat(style.paddingBottom);
  const most = MOST_LINES * LINE + around;
  if (field.value.length > SURELY_FULL) {
    field.style.height = `${most}px`;
    return;
  }
  field.style.height = "";
  if (field.value === "") return;
  field.style.height = `${Math.min(field.scrollHeight, most)}px`;
}

/** Keeps where the caret is, and puts it there when the field appears. */
function useCaret(field: { readonly current: HTMLTextAreaElement | null }, draft: Draft): void {
  useEffect(() => {
    const element = field.current;
    if (element === null) return undefined;
    const [start, end] = draft.value.caret;
    element.setSelectionRange(start, end);
    // On a touch screen the focus brings up a keyboard over half of the conversation.
    if (!matchMedia("(pointer: coarse)").matches) element.focus({ preventScroll: true });
    const moved = (): void => {
      if (document.activeElement === element) draft.moveCaret([element.selectionStart, element.selectionEnd]);
    };
    document.addEventListener("selectionchange", moved);
    return () => {
      document.removeEventListener("selectionchange", moved);
      draft.settle();
    };
  }, [draft]);
}

/** A file dropped anywhere on the page is attached; the browser would leave the page for it. */
function useDrop(add: ((files: readonly File[]) => void) | undefined): boolean {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    if (add === undefined) return undefined;
    const over = (event: DragEvent): void => {
      if (event.dataTransfer?.types.includes("Files") !== true) return;
      event.preventDefault();
      setOver(true);
    };
    const left = (event: DragEvent): void => {
      if (event.relatedTarget === null) setOver(false);
    };
    const drop = (event: DragEvent): void => {
      if (event.dataTransfer?.types.includes("Files") !== true) return;
      event.preventDefault();
      setOver(false);
      add([...event.dataTransfer.files]);
    };
    addEventListener("dragover", over);
    addEventListener("dragleave", left);
    addEventListener("drop", drop);
    return () => {
      removeEventListener("dragover", over);
      removeEventListener("dragleave", left);
      removeEventListener("drop", drop);
    };
  }, [add]);
  return isOver;
}
