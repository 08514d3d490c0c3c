/**
 * Whether a block is unfolded. Only the reader changes this, never the model (law 9): a failed call arrives unfolded, and
 * from then on it stays as it is. Remembered per block while the page is open.
 */

import { useState } from "preact/hooks";

const chosen = new Map<string, boolean>();

export function useToggle(
  session: string,
  block: string,
  arrivesOpen = false,
): readonly [boolean, (open: boolean) => void] {
  const key = `${session}/${block}`;
  const [, draw] = useState(0);
  if (arrivesOpen && !chosen.has(key)) chosen.set(key, true);
  const set = (open: boolean): void => {
    if ((chosen.get(key) ?? false) === open) return;
    chosen.set(key, open);
    draw((count) => count + 1);
  };
  return [chosen.get(key) ?? false, set];
}
