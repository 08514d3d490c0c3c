/** A stored session as handles describe it. */

import type { SessionSummary } from "../../base/api/index.ts";
import type { StoredSession } from "../log/index.ts";

export function describeSession({ summary, ...stored }: StoredSession): SessionSummary {
  return summary === undefined ? stored : { ...stored, title: summary.title, cwd: summary.cwd };
}
