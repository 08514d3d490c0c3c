/** Copies a text and says so. */

import { useEffect, useState } from "preact/hooks";

import { Icon } from "../look/icons.tsx";

/** How long the outcome is shown. */
const TOLD_MS = 1500;

interface Props {
  readonly text: () => string;
  readonly name: string;
}

export function CopyButton({ text, name }: Props) {
  const [told, setTold] = useState<"copied" | "not copied">();
  useEffect(() => {
    if (told === undefined) return undefined;
    const timer = setTimeout(() => setTold(undefined), TOLD_MS);
    return () => clearTimeout(timer);
  }, [told]);
  const copy = (): void => {
    Promise.resolve(navigator.clipboard?.writeText(text())).then(
      () => setTold(navigator.clipboard === undefined ? "not copied" : "copied"),
      () => setTold("not copied"),
    );
  };
  return (
    <button type="button" class="icon-button copy" title={name} aria-label={name} onClick={copy}>
      <Icon name={told === "copied" ? "check" : told === "not copied" ? "cross" : "copy"} />
      <span class="visually-hidden" role="status">
        {told ?? ""}
      </span>
    </button>
  );
}
