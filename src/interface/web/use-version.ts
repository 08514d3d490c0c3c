/** Redraws a component when its session has changed. */

import { useEffect, useState } from "preact/hooks";

import type { SessionView } from "./session-view.ts";

export function useVersion(view: SessionView): number {
  const [version, setVersion] = useState(view.version);
  useEffect(() => {
    setVersion(view.version);
    return view.subscribe(() => setVersion(view.version));
  }, [view]);
  return version;
}
