/** Whether the server is away, for the panel over the field. */

import { useEffect, useState } from "preact/hooks";

import type { SessionHandle } from "../../access/client/index.ts";
import { type LinkState, serverLink } from "./server-link.ts";
import { useNow } from "./use-now.ts";

export type Away = Exclude<LinkState, "open">;

/** A connection that is back this soon is not worth a word. */
const GRACE_MS = 600;

/** The handle redraws its owner when its connection changes. */
export function useAway(handle?: SessionHandle): Away | undefined {
  const [state, setState] = useState(serverLink.state);
  useEffect(() => {
    setState(serverLink.state);
    return serverLink.subscribe(() => setState(serverLink.state));
  }, []);
  const isLost = state === "lost" || handle?.connection === "lost";
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    if (!isLost) return setLong(false);
    const timer = setTimeout(() => setLong(true), GRACE_MS);
    return () => clearTimeout(timer);
  }, [isLost]);
  if (state === "login") return "login";
  return isLost && isLong ? "lost" : undefined;
}

/** Seconds until the server is asked again; undefined while it is being asked. */
export function useSecondsToTry(): number | undefined {
  const now = useNow(true);
  const [, draw] = useState(0);
  useEffect(() => serverLink.subscribe(() => draw((count) => count + 1)), []);
  const { nextTry } = serverLink;
  return nextTry === undefined
    ? undefined
    : Math.max(1, Math.ceil((nextTry - Math.max(now, performance.now())) / 1000));
}
