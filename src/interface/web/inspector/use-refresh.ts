/** Redraws an open tab when its session has changed, at most twice a second: figures that change faster cannot be read. */

import { useEffect, useState } from "preact/hooks";

import type { SessionView } from "../session-view.ts";

const REFRESH_MS = 500;

export function useRefresh(view: SessionView): void {
  const [, setVersion] = useState(view.version);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let last = 0;
    const draw = (): void => {
      timer = undefined;
      last = performance.now();
      setVersion(view.version);
    };
    const stop = view.subscribe(() => {
      timer ??= setTimeout(draw, Math.max(0, last + REFRESH_MS - performance.now()));
    });
    setVersion(view.version);
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [view]);
}

/** Changes when the answers of the server may have changed: with each event, or while a turn runs with each response that ends. */
export function askKey({ busy, facts, handle, events }: SessionView): string {
  if (!busy) return `at ${events.length} for ${handle.model.label} ${handle.model.settings.effort ?? ""}`;
  const { requests } = facts;
  const open = requests.at(-1)?.end === undefined ? 1 : 0;
  return `after ${requests.length - open}`;
}
