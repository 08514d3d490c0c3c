/**
 * What is known about a call that got no result. A call that may have reached its server is never sent again: its outcome
 * is unknown, and the model is told to check before it repeats it (law 5).
 */

import { assertNever, inertLine } from "../../base/support/index.ts";
import { type ToolOutcome, toolOutcome } from "../tools/index.ts";

export type Lost =
  /** Nothing was sent. */
  | { readonly how: "unsent"; readonly why: string }
  /** The server refused the call before it ran anything. */
  | { readonly how: "refused"; readonly why: string; readonly reconnect?: boolean }
  /** The server says that something went wrong while it ran. */
  | { readonly how: "failed"; readonly why: string }
  | { readonly how: "login"; readonly why?: string }
  | { readonly how: "unknown"; readonly why: string };

/** The same of a call that its server had begun: it reported progress or asked something, so nothing says "not executed". */
export function lostAfterBegin(lost: Lost): Lost {
  if (lost.how === "unknown" || lost.how === "failed") return lost;
  return { how: "unknown", why: lost.why ?? "it needs a login" };
}

export function lostOutcome(server: string, lost: Lost): ToolOutcome {
  const name = `the MCP server "${server}"`;
  switch (lost.how) {
    case "unsent":
      return failed(`${name} cannot be reached: ${said(lost.why)}; not executed`);
    case "refused":
      return failed(`${name} refused the call: ${said(lost.why)}; not executed`);
    case "failed":
      return failed(`${name} reported an error: ${said(lost.why)}; it may have done a part of it`);
    case "login":
      return failed(
        `${lost.why === undefined ? `${name} needs a login` : said(lost.why)}; not executed. The user can log in: throughline mcp login ${server}`,
      );
    case "unknown":
      return toolOutcome({
        status: "outcome_unknown",
        text: `outcome unknown: the call was sent to ${name}, but no result came back: ${said(lost.why)}. It was not sent again. Check whether it took effect before you repeat it`,
      });
    default:
      return assertNever(lost, "loss");
  }
}

function failed(text: string): ToolOutcome {
  return toolOutcome({ status: "error", text });
}

function said(why: string): string {
  return inertLine(why, 500).replace(/[.\s]+$/, "");
}
