/**
 * The rules in force in a session: those of its agent, and those that a person added in this session, which are in the
 * log. A rule of the log that the agent's tools no longer fit covers nothing.
 */

import type { RuleView } from "../../base/api/index.ts";
import type { EventDraft } from "../../base/events/index.ts";
import { codedError, didYouMean } from "../../base/support/index.ts";
import type { SessionFacts } from "../facts/index.ts";
import { type AllowRule, covers, parseRule, type Tool } from "../tools/index.ts";
import type { PermissionPolicy } from "../turn/index.ts";
import type { AgentOptions } from "./types.ts";

export class SessionRules {
  readonly #tools: readonly Tool[];
  readonly #ofAgent: readonly AllowRule[];
  readonly #policy: PermissionPolicy;
  readonly #facts: () => SessionFacts;
  /** Parsed once. Null: the text is no rule for these tools. */
  readonly #parsed = new Map<string, AllowRule | null>();

  constructor(
    { tools = [], allow = [], permissions = "read-only" }: AgentOptions,
    facts: () => SessionFacts,
  ) {
    this.#tools = tools;
    this.#policy = permissions;
    this.#ofAgent = allow.map((text) => parseRule(text, tools));
    this.#facts = facts;
  }

  get view(): readonly RuleView[] {
    const ofSession = [...this.#facts().rules.keys()];
    return [
      ...this.#ofAgent.map(({ text }): RuleView => ({ rule: text, from: "agent" })),
      ...ofSession.map((rule): RuleView => ({ rule, from: "session" })),
    ];
  }

  covering(tool: Tool, input: unknown): string | undefined {
    const ofSession = [...this.#facts().rules.keys()].flatMap((text) => this.#ruleOf(text) ?? []);
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
    if (!this.#facts().rules.has(rule)) {
      const ofAgent = this.#ofAgent.some(({ text }) => text === rule);
      throw codedError(
        "rule_not_found",
        ofAgent
          ? `the rule "${rule}" was given when the agent was created. Start it without the rule`
          : `this session has no rule "${rule}"${didYouMean(rule, this.#facts().rules.keys())}`,
      );
    }
    return { type: "permission_rule", rule, by: "person", removed: true };
  }

  #ruleOf(text: string): AllowRule | null {
    const known = this.#parsed.get(text);
    if (known !== undefined) return known;
    let rule: AllowRule | null;
    try {
      rule = parseRule(text, this.#tools);
    } catch {
      rule = null; // written by another program, or for a tool that this agent does not have
    }
    this.#parsed.set(text, rule);
    return rule;
  }
}
