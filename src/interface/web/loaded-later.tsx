/**
 * A component whose code is loaded when it is first drawn, so that the page itself is there sooner. While the server is
 * away it waits for it.
 */

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";

import { serverLink } from "./server-link.ts";

const WORDS = {
  away: "This part of the page comes when the server is back.",
  missing:
    "This part of the page could not be loaded. Load the page again: what you typed stays in this browser.",
} as const;

export function loadedLater<Props extends object>(load: () => Promise<(props: Props) => VNode | null>) {
  let loaded: ((props: Props) => VNode | null) | undefined;
  return function Later(props: Props): VNode | null {
    const [failed, setFailed] = useState<keyof typeof WORDS>();
    const [, draw] = useState(0);
    useEffect(() => {
      const gone = new AbortController();
      const fetchIt = async (): Promise<void> => {
        while (loaded === undefined && !gone.signal.aborted) {
          try {
            loaded = await load();
          } catch {
            await serverLink.tryNow();
            if (serverLink.state === "open") return setFailed("missing");
            setFailed("away");
            await serverLink.opened();
          }
        }
        if (!gone.signal.aborted) draw((count) => count + 1);
      };
      if (loaded === undefined) void fetchIt();
      return () => gone.abort();
    }, []);
    const Loaded = loaded;
    if (Loaded !== undefined) return <Loaded {...props} />;
    if (failed === undefined) return null;
    return (
      <p class={failed === "away" ? "problem calm" : "problem"} role="status">
        {WORDS[failed]}
      </p>
    );
  };
}
