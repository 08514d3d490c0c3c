/** The events of permissions: a question, a decision, and a rule that answers later questions. */

import type { Envelope } from "./canonical.ts";
import type { McpToolName } from "./settings.ts";

export interface PermissionRequest extends Envelope {
  readonly type: "permission_request";
  readonly response: string;
  readonly requestId: string;
  readonly callId: string;
  readonly tool: string;
  readonly access: "read" | "write" | "execute";
  readonly arguments: string;
  /** An approval is bound to this hash: other arguments are asked about again. */
  readonly argumentsHash: string;
  /** The rule that a person adds by allowing the call for this session. Absent if no rule says exactly that. */
  readonly rule?: string | undefined;
  /** Which tool of which MCP server is called. Absent for any other tool. */
  readonly mcp?: McpToolName | undefined;
  /** The server has changed the tool's description or schema since a person last allowed a call of it. */
  readonly changed?: boolean | undefined;
}

export interface PermissionDecisionEvent extends Envelope {
  readonly type: "permission_decision";
  readonly response: string;
  readonly requestId?: string | undefined;
  readonly callId: string;
  /** Absent in a log of an earlier version whose permission function returned no decision: the call was denied. */
  readonly decision?: "allow" | "deny" | undefined;
  readonly by: "policy" | "person" | "function";
  readonly reason?: string | undefined;
  readonly argumentsHash: string;
  /** The rule that allowed the call. */
  readonly rule?: string | undefined;
}

/** A person's rule for this session: later calls that it covers run without a question. It holds on every branch. */
export interface PermissionRuleEvent extends Envelope {
  readonly type: "permission_rule";
  /** `TOOL` or `TOOL:PATTERN`, exactly as the person saw it. */
  readonly rule: string;
  readonly by: "person";
  /** The question that was answered with the rule. Absent if it was added or removed by name. */
  readonly requestId?: string | undefined;
  /** The rule no longer holds. */
  readonly removed?: boolean | undefined;
}
