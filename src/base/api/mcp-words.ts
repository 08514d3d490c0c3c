/** The words for the state of an MCP server, the same in every front end. Names and problems may come from a server: shown, not obeyed. */

import { unmistakableLine } from "../support/index.ts";
import type { McpServerView } from "./mcp.ts";

const STATES: Readonly<Record<McpServerView["state"], readonly [symbol: string, word: string]>> = {
  connecting: ["…", "connecting"],
  connected: ["✓", "connected"],
  lost: ["○", "not connected"],
  failed: ["✗", "failed"],
  login_needed: ["!", "needs a login"],
  disabled: ["–", "disabled"],
};

export interface McpServerWords {
  readonly symbol: string;
  readonly state: string;
  /** How many tools, and how many cannot be used. Empty if none were ever listed. */
  readonly tools: string;
  readonly problem: string | undefined;
  readonly advice: string | undefined;
}

export function mcpServerWords(view: McpServerView): McpServerWords {
  const { state, tools, leftOut, problem } = view;
  const [symbol, word] = STATES[state];
  const listed = tools > 0 || state === "connected" ? [`${tools} ${tools === 1 ? "tool" : "tools"}`] : [];
  const unusable = leftOut.length === 0 ? [] : [`${leftOut.length} left out`];
  return {
    symbol,
    state: word,
    tools: [...listed, ...unusable].join(", "),
    problem: problem === undefined ? undefined : unmistakableLine(problem),
    advice: adviceFor(view),
  };
}

/** One line: `files connected, 12 tools`, or `docs failed: connection refused (…)`. */
export function mcpServerLine(view: McpServerView): string {
  const { state, tools, problem, advice } = mcpServerWords(view);
  const facts = [state, tools].filter((one) => one !== "").join(", ");
  // The problem of a lost server says no more than its advice.
  const why = problem === undefined || view.state === "lost" ? "" : `: ${problem}`;
  return `${unmistakableLine(view.name)} ${facts}${why}${advice === undefined ? "" : ` (${advice})`}`;
}

function adviceFor({ state, name, tools }: McpServerView): string | undefined {
  // The model cannot call a server whose tools were never listed, so only a person can have it tried again.
  if (state === "failed" && tools === 0) return "connect it again to use it";
  if (state === "failed" || state === "lost") return "it is tried again at its next call";
  if (state === "login_needed") return `run throughline mcp login ${unmistakableLine(name)}`;
  return state === "disabled" ? '"enabled": true in its entry enables it' : undefined;
}
