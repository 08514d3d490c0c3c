/**
 * A part of a project that needs the user's trust: its settings file, its `.mcp.json`, its skills. Each has its own
 * decision, and all are asked about, recorded and reported in the same way.
 */

import type { ConfigName } from "./config-keys.ts";
import type { FileSet } from "./file-closure.ts";
import type { NamedServer } from "./mcp-file.ts";
import { type TrustChange, type TrustDecision, trustOf, type TrustSubject } from "./trust.ts";

interface PartContent {
  readonly type: "settings" | "servers" | "skills";
  /** The file, or the folder. A decision is kept under this name. */
  readonly file: string;
  readonly sha256: string;
  /** What in it needs trust: settings, servers or skills, by name. If empty, no decision is looked up. */
  readonly needsTrust: readonly string[];
  /** The settings in it that only the user may set. They are ignored, trusted or not. */
  readonly userOnly: readonly ConfigName[];
  /** The files that run because of its settings; undefined if they name no code. */
  readonly code: FileSet | undefined;
  /** The MCP servers that it would start. */
  readonly servers: readonly NamedServer[];
  /** The other files that a decision covers: those that its servers name, or those of its skills. */
  readonly named: FileSet | undefined;
}

export interface ProjectPart extends PartContent {
  readonly decision: TrustDecision | undefined;
  /** The changes since the last trusted state. */
  readonly changes: readonly TrustChange[];
  /** Why it cannot be trusted in its current state, if it cannot. */
  readonly problem: string | undefined;
}

/** Looks up what the user decided about exactly this content. */
export function judgedPart(store: string, content: PartContent): ProjectPart {
  const problem = content.code?.problem ?? content.named?.problem;
  const { decision, changes } =
    content.needsTrust.length === 0
      ? { decision: undefined, changes: [] }
      : trustOf(store, trustSubject(content));
  const refused = decision === "trusted" && problem !== undefined;
  return { ...content, decision: refused ? undefined : decision, changes, problem };
}

/** Returns what a decision about a part covers. */
export function trustSubject({
  file,
  sha256,
  code,
  named,
}: Pick<PartContent, "file" | "sha256" | "code" | "named">): TrustSubject {
  const all = [...(code?.files ?? []), ...(named?.files ?? [])];
  return { file, sha256, files: Object.fromEntries(all.map((one) => [one.name, one.sha256])) };
}

/** Whether something of the part is ignored until the user decides, or because the user refused. */
export function isIgnored({ needsTrust, decision }: ProjectPart): boolean {
  return needsTrust.length > 0 && decision !== "trusted";
}
