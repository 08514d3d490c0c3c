/** Returns the time, updated every second while `counting`. */

import { useEffect, useState } from "preact/hooks";

export function useNow(counting: boolean): number {
  const [now, setNow] = useState(() => performance.now());
  useEffect(() => {
    if (!counting) return undefined;
    setNow(performance.now());
    const timer = setInterval(() => setNow(performance.now()), 1000);
    return () => clearInterval(timer);
  }, [counting]);
  return now;
}
