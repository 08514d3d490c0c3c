/** A stored session as handles describe it. */

import type { SessionSummary } from "../../base/api/index.ts";
import type { StoredSession } from "../log/index.ts";

export function describeSession({ summary, ...stored }: StoredSession): SessionSummary {
  if (summary === undefined) return stored;
  const { title, cwd, subAgentOf } = summary;
  return { ...stored, title, cwd, subAgentOf };
}
