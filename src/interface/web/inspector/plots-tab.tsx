/** The plots of a session. */

import type { SessionView } from "../session-view.ts";
import { Plots } from "./plots.tsx";
import { useRefresh } from "./use-refresh.ts";

export function PlotsTab({ view }: { readonly view: SessionView }) {
  useRefresh(view);
  return <Plots requests={view.facts.requests} />;
}
