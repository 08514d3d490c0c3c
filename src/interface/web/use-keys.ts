/** Keys of the whole page. They do nothing while somebody types or a sheet is open. */

import { useEffect, useRef } from "preact/hooks";

const TAKES_KEYS = "input, textarea, select, dialog, .permission, [role=menu]";

export function useKeys(keys: Readonly<Record<string, () => void>>): void {
  const current = useRef(keys);
  current.current = keys;
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
      const target = event.target instanceof Element ? event.target : undefined;
      // A permission takes letters of its own.
      if ((target?.closest(TAKES_KEYS) ?? undefined) !== undefined) return;
      const act = current.current[event.key];
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}
