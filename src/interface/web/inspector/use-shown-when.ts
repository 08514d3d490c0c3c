/** Scrolls a row into view when it becomes the selected one: the selection may come from the conversation. */

import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";

export function useShownWhen<Row extends HTMLElement>(selected: boolean): RefObject<Row> {
  const row = useRef<Row>(null);
  useEffect(() => {
    if (selected) row.current?.scrollIntoView({ block: "nearest" });
  }, [selected]);
  return row;
}
