/**
 * `agentTool`: a tool whose call runs another agent in its own session. The two logs are linked, and the session is
 * continued, not repeated, when the call runs again after a crash (sub-session.ts).
 */

import type { Input } from "../../base/api/index.ts";
import {
  aCount,
  aFunction,
  anything,
  checkOptions,
  codedError,
  isObject,
  type JsonObject,
  type OptionChecks,
  stringOf,
} from "../../base/support/index.ts";
import {
  permissionFor,
  type StandardSchema,
  tool,
  type Tool,
  type ToolAccess,
  type ToolInput,
} from "../tools/index.ts";
import { DEFAULT_LIMITS, scopeOf } from "../turn/index.ts";
import { type AgentInside, insideOf } from "./agent-inside.ts";
import { createOutputFormat } from "./output-schema.ts";
import { ownTools, sourcesIn } from "./session-tools.ts";
import { answerOf, spentBy, subSessionId } from "./sub-session.ts";
import type { Agent, AgentOptions, OutputSchema } from "./types.ts";

/** Options of `agentTool`. */
export interface AgentToolOptions<Schema extends StandardSchema | JsonObject = JsonObject> {
  /** 1 to 64 letters, digits, `_` and `-`. */
  readonly name: string;
  /** All that the calling model knows about the sub-agent. */
  readonly description: string;
  /** From `createAgent`. A function is called at the first use, so that an agent may call itself. */
  readonly agent: Agent | (() => Agent);
  /** The schema of the call's input. Default: an object with one text, `prompt`. */
  readonly input?: Schema | undefined;
  /** Makes the sub-agent's message from the input. Required with `input`. Default: the text `prompt`. */
  readonly prompt?: ((input: ToolInput<Schema>) => Input) | undefined;
  /** The sub-agent's answer must be JSON that the schema accepts; the calling model gets the value. */
  readonly output?: OutputSchema | undefined;
  /**
   * What a call may do, for the caller's permissions. Default: the most that the sub-agent's own permissions let its
   * tools do; "execute" if `agent` is a function.
   */
  readonly access?: ToolAccess | undefined;
  /** The time limit of one call. Default: the `turnTimeoutMs` of the sub-agent. */
  readonly timeoutMs?: number | undefined;
  /** How deep sub-agents may be nested; a call that would go deeper fails. Default: 3. */
  readonly maxDepth?: number | undefined;
}

const PROMPT: JsonObject = {
  type: "object",
  properties: {
    prompt: {
      type: "string",
      description:
        "The task, with everything needed to do it: this conversation is not visible to the sub-agent.",
    },
  },
  required: ["prompt"],
  additionalProperties: false,
};

const MAX_DEPTH = 3;

/** The members that `agentTool` or `tool` check themselves have messages that name the tool. */
const AGENT_TOOL_OPTIONS = {
  name: anything,
  description: anything,
  agent: anything,
  input: anything,
  prompt: aFunction,
  output: anything,
  access: anything,
  timeoutMs: anything,
  maxDepth: aCount(1),
} satisfies OptionChecks<AgentToolOptions>;

/**
 * Makes a tool that runs another agent in its own session of the same store. The answer is the call's result. Throws
 * `tool_invalid`.
 *
 * @example
 * ```ts
 * import { agentTool, createAgent, emulator } from "throughline";
 *
 * const reader = createAgent({ model: emulator(), system: "Answer from the files." });
 * const research = agentTool({ name: "research", description: "Researches a question", agent: reader });
 * const session = await createAgent({ model: emulator(), tools: [research] }).open();
 * console.log(await session.send("Use research to find out what a log is.").text());
 * await session.close();
 * ```
 */
export function agentTool<Schema extends StandardSchema | JsonObject = JsonObject>(
  options: AgentToolOptions<Schema>,
): Tool {
  checkOptions("agentTool", options, AGENT_TOOL_OPTIONS, "tool_invalid");
  const { name, agent, input, prompt, output, maxDepth = MAX_DEPTH } = options;
  const invalid = (problem: string): Error =>
    codedError("tool_invalid", `agentTool ${JSON.stringify(name)}: ${problem}`);
  const inside = typeof agent === "function" ? undefined : insideOf(agent);
  if (typeof agent !== "function" && inside === undefined) throw invalid("agent must come from createAgent");
  if ((input === undefined) !== (prompt === undefined))
    throw invalid("input and prompt belong together: prompt makes the sub-agent's message from the input");
  if (output !== undefined) createOutputFormat(output); // throws if it cannot be used
  return tool<StandardSchema | JsonObject>({
    name,
    description: options.description,
    input: input ?? PROMPT,
    access: options.access ?? (inside === undefined ? "execute" : accessOf(inside.options)),
    idempotent: true, // a second run continues the session of the first
    timeoutMs: options.timeoutMs ?? inside?.options.limits?.turnTimeoutMs ?? DEFAULT_LIMITS.turnTimeoutMs,
    async run(given, context) {
      const scope = scopeOf(context);
      if (scope === undefined)
        throw codedError("sub_agent_failed", `${name} runs a sub-agent, so only a session can call it`);
      if (scope.parent.depth > maxDepth)
        throw codedError(
          "sub_agent_failed",
          `sub-agents may be nested ${maxDepth} deep, and this one would be deeper. Do the task yourself`,
        );
      const id = subSessionId(context.idempotencyKey);
      const sub = inside ?? calledInside(agent, invalid);
      const { session, log } = await sub.openSub({
        id,
        store: scope.store,
        parent: scope.parent,
        maxCostUsd: scope.leftUsd,
      });
      scope.meter(() => spentBy(log, sub.options));
      try {
        context.progress(`sub-agent session ${id}\n`);
        return await answerOf(session, log, {
          prompt: () => (prompt === undefined ? promptIn(given) : prompt(given as ToolInput<Schema>)),
          output,
          signal: context.signal,
        });
      } finally {
        await session.close();
      }
    },
  });
}

function calledInside(agent: unknown, invalid: (problem: string) => Error): AgentInside {
  const inside = typeof agent === "function" ? insideOf((agent as () => Agent)()) : undefined;
  if (inside === undefined) throw invalid("the function did not return an agent from createAgent");
  return inside;
}

function promptIn(input: unknown): string {
  return (isObject(input) ? stringOf(input["prompt"]) : undefined) ?? "";
}

const RANK: readonly ToolAccess[] = ["execute", "write", "read"];

/** The most that the agent's own permissions let its tools do. What only a person may allow counts if one can be asked. */
function accessOf(options: AgentOptions): ToolAccess {
  const { permissions = "read-only", interactive, allow = [] } = options;
  const may = ({ access, name }: Pick<Tool, "access" | "name">): boolean => {
    if (allow.some((rule) => rule === name || rule.startsWith(`${name}:`))) return true;
    const verdict = typeof permissions === "function" ? "allow" : permissionFor(permissions, access);
    return verdict === "allow" || (verdict === "ask" && interactive === true);
  };
  const tools: readonly Pick<Tool, "access" | "name">[] = [
    ...ownTools(options),
    ...sourcesIn(options).map(({ name }) => ({ name, access: "execute" as const })),
  ];
  return RANK.find((access) => tools.some((one) => one.access === access && may(one))) ?? "read";
}
