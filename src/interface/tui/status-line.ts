/**
 * The status line: directory, session, tokens, cost if known, context, model and effort. On a narrow terminal it takes
 * more rows and leaves nothing out.
 */

import type { ContextUse, Usage } from "../../base/events/index.ts";
import { inertLine } from "../../base/support/index.ts";
import { type Rows, short } from "./rows.ts";
import type { Style } from "./style.ts";
import { fit, widthOf } from "./terminal-library.ts";

export interface StatusParts {
  readonly directory: string;
  readonly session: string;
  readonly usage: Usage;
  readonly costUsd: number | undefined;
  readonly model: string;
  readonly effort: string | undefined;
  /** How full the model's context is, if known. */
  readonly context: ContextUse | undefined;
  readonly reading: boolean;
}

const MAX_ROWS = 4;

export function statusRows(parts: StatusParts, width: number, style: Style): Rows {
  const left = [
    inertLine(parts.directory, 60),
    inertLine(parts.session, 40),
    ...(parts.reading ? ["read-only"] : []),
  ];
  const middle = tokensOf(parts);
  const effort = parts.effort === undefined ? "" : `:${parts.effort}`;
  const model = inertLine(`${parts.model}${effort}`, 60);
  const texts = [left.join(" · "), middle.join(" "), model].filter((text) => text !== "");
  // Do not pad to the whole width: a terminal that gets narrower wraps only rows that are too long.
  const whole = texts.join("  │  ");
  if (widthOf(whole) <= width) return [style.dim(whole)];
  return broken([...left, ...middle, model], width).map((row) => style.dim(row));
}

function tokensOf({ usage, costUsd, context }: StatusParts): readonly string[] {
  if (usage.inputTokens === 0 && usage.outputTokens === 0) return [];
  const reasoning = usage.reasoningTokens > 0 ? ` (${short(usage.reasoningTokens)} reasoning)` : "";
  const cached = usage.cachedTokens > 0 ? ` (${short(usage.cachedTokens)} cached)` : "";
  return [
    `↑${short(usage.inputTokens)}${cached}`,
    `↓${short(usage.outputTokens)}${reasoning}`,
    ...(costUsd === undefined || costUsd === 0 ? [] : [`$${costUsd.toFixed(costUsd < 1 ? 3 : 2)}`]),
    ...contextPart(context),
  ];
}

function contextPart(context: ContextUse | undefined): readonly string[] {
  if (context === undefined) return [];
  const { usedTokens, contextTokens, fraction } = context;
  if (contextTokens === undefined || fraction === undefined) return [`ctx ${short(usedTokens)}`];
  return [`ctx ${Math.round(100 * fraction)}% of ${short(contextTokens)}`];
}

/** Puts as many parts on a row as fit. */
function broken(parts: readonly string[], width: number): Rows {
  const rows: string[] = [];
  for (const part of parts) {
    const last = rows.at(-1);
    if (last !== undefined && widthOf(last) + 3 + widthOf(part) <= width)
      rows[rows.length - 1] = `${last} · ${part}`;
    else rows.push(fit(part, width));
  }
  return rows.slice(-MAX_ROWS);
}
