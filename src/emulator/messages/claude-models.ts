/**
 * How Claude models differ: which thinking modes they accept, what they refuse, whose thoughts they read. Data, by
 * generation; docs/emulator.md gives the evidence. An unknown id accepts everything.
 */

import type { ModelTraits } from "../model-traits.ts";

export type ThinkingMode = "adaptive" | "enabled" | "between_tools" | "disabled";

export interface ClaudeTraits {
  /** The accepted modes; others are refused (C18). */
  readonly modes: readonly ThinkingMode[];
  /** The mode if the request does not mention thinking. */
  readonly usual: ThinkingMode;
  /** Whether thinking is sent without its text unless `display` requests it. */
  readonly omits: boolean;
  /** `temperature`, `top_p`, `top_k`: any value, only the default, or none at all. */
  readonly sampling: "any" | "default" | "none";
  /** C20: whether `tool_choice` may force a tool. */
  readonly forcedTool: boolean;
  /** C08: whether the switch `prefill` applies. */
  readonly prefill: boolean;
  /** What happens to thinking it cannot read: refused (C03), or dropped and listed in `input_transformations` (C10). */
  readonly unreadable: "refuse" | "drop";
  /** Other models whose thinking it can read. */
  readonly reads?: RegExp | undefined;
}

const amalgam: ClaudeTraits = {
  modes: ["adaptive", "enabled", "between_tools", "disabled"],
  usual: "disabled",
  omits: false,
  sampling: "any",
  forcedTool: true,
  prefill: true,
  unreadable: "refuse",
};

/** 4.5 and older, back to 3.7: only a budget. */
const budgeted: ClaudeTraits = { ...amalgam, modes: ["enabled", "disabled"] };

/** 4.6: the budget is being phased out. */
const transitional: ClaudeTraits = { ...amalgam, modes: ["adaptive", "enabled", "disabled"], prefill: false };

/** Opus 4.7, 4.8 and 5, Sonnet 5: no budget, no sampling. */
const adaptive: ClaudeTraits = {
  ...amalgam,
  modes: ["adaptive", "disabled"],
  omits: true,
  sampling: "none",
  prefill: false,
};

/** Opus 5.5, Fable and Mythos 5: always think. */
const always: ClaudeTraits = {
  ...adaptive,
  modes: ["adaptive"],
  usual: "adaptive",
  forcedTool: false,
  unreadable: "drop",
};

/** Sonnet 5.5: thinks before its first call, or only between calls. */
const between: ClaudeTraits = {
  ...always,
  modes: ["adaptive", "between_tools"],
  sampling: "default",
};

const older = /^claude-(?:3|sonnet-(?:4|5$)|haiku-4|opus-4)/;

/** The first match wins. */
const rows: readonly (readonly [RegExp, ClaudeTraits])[] = [
  [/^emu-claude-bound/, { ...amalgam, usual: "adaptive" }],
  [/^emu-claude-adaptive/, adaptive],
  [/^emu-claude-5\.5/, { ...always, reads: /^emu-claude-adaptive/ }],
  [/^emu-claude-between/, { ...between, reads: /^emu-claude$/ }],
  [/^claude-(?:fable|mythos)-5-[1-9]/, { ...always, reads: /^claude-opus-5/ }],
  [/^claude-(?:fable|mythos)-5/, { ...always, forcedTool: true }],
  [/^claude-opus-5-5/, always],
  [/^claude-sonnet-5-5/, { ...between, reads: older }],
  [/^claude-(?:opus|sonnet)-5/, { ...adaptive, usual: "adaptive" }],
  [/^claude-opus-4-[78]/, adaptive],
  [/^claude-(?:opus|sonnet)-4-6/, transitional],
  [/^claude-3-7|^claude-(?:opus|sonnet|haiku)-4(?:$|-[0-5](?:$|-)|-\d{8})/, budgeted],
];

export function claudeTraitsOf(model: string, traits: ModelTraits): ClaudeTraits {
  const found = rows.find(([match]) => match.test(model))?.[1] ?? amalgam;
  // A model declared as bound thinks like the bound ones.
  if (found !== amalgam || !traits.prefixBound || !traits.reasoning) return found;
  return { ...found, usual: "adaptive" };
}
