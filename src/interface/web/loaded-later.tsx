/** A component whose code is loaded when it is first drawn, so that the page itself is there sooner. */

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";

export function loadedLater<Props extends object>(load: () => Promise<(props: Props) => VNode | null>) {
  let loaded: ((props: Props) => VNode | null) | undefined;
  return function Later(props: Props): VNode | null {
    const [failed, setFailed] = useState(false);
    const [, draw] = useState(0);
    useEffect(() => {
      if (loaded !== undefined) return undefined;
      let stale = false;
      const fetchIt = async (): Promise<void> => {
        try {
          loaded = await load();
          if (!stale) draw((count) => count + 1);
        } catch {
          if (!stale) setFailed(true);
        }
      };
      void fetchIt();
      return () => {
        stale = true;
      };
    }, []);
    if (failed) return <p class="problem">This part of the page could not be loaded. Load the page again.</p>;
    const Loaded = loaded;
    return Loaded === undefined ? null : <Loaded {...props} />;
  };
}
