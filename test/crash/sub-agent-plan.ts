/** What the killed process and the test agree on: an agent whose tool runs another agent. */

import { z } from "zod";

import { agentTool, createAgent, openai, type Agent, type WireRecord } from "../../src/index.ts";
import { type CrashPlan, weatherTool } from "./crash-plan.ts";

export interface SubAgentPlan extends Pick<CrashPlan, "effects" | "block"> {
  readonly folder: string;
  readonly parentUrl: string;
  readonly childUrl: string;
  /** Whether the sub-agent's answer must fit a schema. */
  readonly typed?: boolean;
  /** The process kills itself when it is about to write this text for the nth time. */
  readonly dieAt?: { readonly text: string; readonly nth: number };
}

export function agentsOf(
  plan: SubAgentPlan,
  say: (word: string, value: unknown) => void = () => undefined,
): { readonly parent: Agent; readonly child: Agent } {
  const trace = (record: WireRecord): void => {
    if (record.type === "bytes" && Buffer.from(record.bytes).includes("reasoning_summary_text.delta"))
      say("thinking", "child");
  };
  const child = createAgent({
    model: openai("emu-reasoner", { apiKey: "sk-child-test", baseUrl: plan.childUrl }),
    tools: [weatherTool({ ...plan, idempotent: false }, say)],
    permissions: "auto",
    trace,
  });
  const parent = createAgent({
    model: openai("emu-reasoner", { apiKey: "sk-crash-test", baseUrl: plan.parentUrl }),
    tools: [
      agentTool({
        name: "research",
        description: "Researches a question",
        agent: child,
        output: plan.typed === true ? z.object({ city: z.string().transform((city) => [city]) }) : undefined,
      }),
    ],
    permissions: "auto",
  });
  return { parent, child };
}
