/** The versions of a message or an answer: arrows step through them, the number lists what each holds. */

import { useEffect, useRef, useState } from "preact/hooks";

import type { BlockVersion } from "../../fragments/index.ts";
import { IconButton } from "../look/icon-button.tsx";
import { Icon } from "../look/icons.tsx";

interface Props {
  readonly versions: readonly BlockVersion[];
  /** "message" or "answer". */
  readonly of: string;
  readonly disabled: boolean;
  readonly onChoose: (version: BlockVersion) => void;
}

export function Versions({ versions, of, disabled, onChoose }: Props) {
  const [open, setOpen] = useState(false);
  const list = useRef<HTMLDivElement>(null);
  const number = useRef<HTMLButtonElement>(null);
  const at = versions.findIndex(({ shown }) => shown);
  useEffect(() => {
    if (open) list.current?.querySelector<HTMLElement>('[aria-checked="true"]')?.focus();
  }, [open]);
  const close = (): void => {
    setOpen(false);
    number.current?.focus();
  };
  const step = (by: number): void => {
    const version = versions[at + by];
    if (version !== undefined) onChoose(version);
  };
  return (
    <div class={open ? "versions is-listing" : "versions"}>
      <span class="pager">
        <IconButton
          icon="left"
          name={at > 0 ? `Version ${at} of the ${of}` : "No earlier version"}
          isOff={at <= 0 || disabled}
          onClick={() => step(-1)}
        />
        <button
          ref={number}
          type="button"
          class="pager-number"
          aria-label={`${at + 1}/${versions.length}, show all versions of the ${of}`}
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        >
          {at + 1}/{versions.length}
        </button>
        <IconButton
          icon="right"
          name={at < versions.length - 1 ? `Version ${at + 2} of the ${of}` : "No later version"}
          isOff={at >= versions.length - 1 || disabled}
          onClick={() => step(1)}
        />
      </span>
      {open ? (
        <div
          ref={list}
          class="version-list"
          role="menu"
          aria-label={`Versions of this ${of}`}
          tabIndex={-1}
          onKeyDown={(event) => {
            if (event.key === "Escape") close();
            else if (event.key === "ArrowDown" || event.key === "ArrowUp")
              moveFocus(event.currentTarget, event.key);
            else return;
            event.preventDefault();
            event.stopPropagation();
          }}
        >
          {versions.map((version, index) => (
            <button
              key={version.to}
              type="button"
              role="menuitemradio"
              aria-checked={version.shown}
              aria-disabled={disabled}
              tabIndex={version.shown ? 0 : -1}
              onClick={() => {
                close();
                if (!version.shown && !disabled) onChoose(version);
              }}
            >
              <span class="number num">{index + 1}</span>
              <span class="words">{version.text}</span>
              {version.shown ? <Icon name="check" /> : <span />}
              <span class="holds">{holds(version)}</span>
            </button>
          ))}
        </div>
      ) : null}
    </div>
  );
}

function moveFocus(menu: HTMLElement, key: "ArrowDown" | "ArrowUp"): void {
  const items = [...menu.querySelectorAll<HTMLElement>("button")];
  const at = items.indexOf(document.activeElement as HTMLElement);
  items[(at + (key === "ArrowDown" ? 1 : items.length - 1)) % items.length]?.focus();
}

export function holds({ turns, thoughts, at, shown }: BlockVersion): string {
  const time = new Date(at).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
  return [count(turns, "turn"), count(thoughts, "thought"), time, ...(shown ? ["shown"] : [])].join(" · ");
}

function count(many: number, one: string): string {
  return `${many} ${one}${many === 1 ? "" : "s"}`;
}
