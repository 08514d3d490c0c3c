/**
 * The rules in force in a session: those of its agent, and those that a person added in this session, which are in the
 * log. A rule of the log that the agent's tools no longer fit covers nothing.
 */

import type { RuleView } from "../../base/api/index.ts";
import { type EventDraft, type EventHead, eventsWhere } from "../../base/events/index.ts";
import { codedError, didYouMean } from "../../base/support/index.ts";
import type { SessionFacts } from "../facts/index.ts";
import { type AllowRule, covers, parseRule, specOf, type Tool } from "../tools/index.ts";
import type { LiveLog, PermissionPolicy } from "../turn/index.ts";
import { ownTools, type SessionTools } from "./session-tools.ts";
import type { AgentOptions } from "./types.ts";

export interface SessionRulesParts {
  readonly options: AgentOptions;
  readonly live: LiveLog;
  readonly tools: SessionTools;
}

export class SessionRules {
  readonly #parts: SessionRulesParts;
  readonly #ofAgent: readonly AllowRule[];
  readonly #policy: PermissionPolicy;
  /** Parsed once. */
  readonly #parsed = new Map<string, AllowRule>();

  constructor(parts: SessionRulesParts) {
    const { allow = [], permissions = "read-only" } = parts.options;
    this.#parts = parts;
    this.#policy = permissions;
    this.#ofAgent = allow.map((text) => agentRule(text, parts.options));
  }

  get view(): readonly RuleView[] {
    const ofSession = [...this.#facts.rules.keys()];
    return [
      ...this.#ofAgent.map(({ text }): RuleView => ({ rule: text, from: "agent" })),
      ...ofSession.map((rule): RuleView => ({ rule, from: "session" })),
    ];
  }

  covering(tool: Tool, input: unknown): string | undefined {
    const ofSession = [...this.#facts.rules].flatMap(([text, { seq }]) =>
      this.#isOther(tool, seq) ? [] : (this.#ruleOf(text) ?? []),
    );
    return [...this.#ofAgent, ...ofSession].find((rule) => covers(rule, tool, input))?.text;
  }

  /** Returns the event that adds the rule. Throws `allow_rule_invalid`. */
  added(rule: string): EventDraft {
    parseRule(rule, this.#tools);
    if (this.#policy !== "ask") {
      throw codedError(
        "allow_rule_invalid",
        `the permissions of this session are ${typeof this.#policy === "function" ? "a function" : `"${this.#policy}"`}: it asks nothing, so a rule has no effect`,
      );
    }
    return { type: "permission_rule", rule, by: "person" };
  }

  /** Returns the event that removes the rule. */
  removed(rule: string): EventDraft {
    if (!this.#facts.rules.has(rule)) {
      const ofAgent = this.#ofAgent.some(({ text }) => text === rule);
      throw codedError(
        "rule_not_found",
        ofAgent
          ? `the rule "${rule}" was given when the agent was created. Start it without the rule`
          : `this session has no rule "${rule}"${didYouMean(rule, this.#facts.rules.keys())}`,
      );
    }
    return { type: "permission_rule", rule, by: "person", removed: true };
  }

  /** Whether a server describes the tool differently than when a person last allowed a call of it. */
  hasChanged(tool: Tool): boolean {
    if (tool.mcp === undefined) return false;
    const asked = new Map<string, string>();
    let allowedAt: number | undefined;
    for (const event of eventsWhere(this.#parts.live.log.events, isAboutPermission)) {
      if (event.type === "permission_request") asked.set(event.requestId, event.tool);
      const isYes =
        event.type === "permission_decision" &&
        event.decision === "allow" &&
        event.requestId !== undefined &&
        asked.get(event.requestId) === tool.name;
      if (isYes || (event.type === "permission_rule" && event.rule === tool.name)) allowedAt = event.seq;
    }
    return allowedAt !== undefined && this.#isOther(tool, allowedAt);
  }

  /** A person's yes is about the tool as it was described then. */
  #isOther(tool: Tool, seq: number): boolean {
    if (tool.mcp === undefined) return false;
    const then = this.#facts.settingsAt(seq)?.tools.find(({ name }) => name === tool.name);
    return then !== undefined && JSON.stringify(then) !== JSON.stringify(specOf(tool));
  }

  get #facts(): SessionFacts {
    return this.#parts.live.facts;
  }

  get #tools(): readonly Tool[] {
    return this.#parts.tools.current.tools;
  }

  #ruleOf(text: string): AllowRule | undefined {
    const known = this.#parsed.get(text);
    if (known !== undefined) return known;
    try {
      const rule = parseRule(text, this.#tools);
      this.#parsed.set(text, rule);
      return rule;
    } catch {
      return undefined; // written by another program, or for a tool that this agent does not have
    }
  }
}

/** The tools of a server are not known yet when an agent is created. */
export function agentRule(text: string, options: AgentOptions): AllowRule {
  const isLater = /^mcp_[\w-]+$/.test(text) && ownTools(options).every(({ name }) => name !== text);
  return isLater ? { text, tool: text, parts: undefined } : parseRule(text, ownTools(options));
}

function isAboutPermission({ type }: EventHead): boolean {
  return type.startsWith("permission_");
}
