/** What the child and the test agree on: the same model, the same tool, the same files. */

import { appendFileSync } from "node:fs";

import type { ElicitationField } from "../../src/base/events/index.ts";
import { anthropic, type Model, openai, tool, type Tool } from "../../src/index.ts";
import { elicitFrom } from "../../src/runtime/tools/index.ts";

const UNIT: ElicitationField = { name: "unit", type: "string", required: true };

export interface CrashPlan {
  readonly folder: string;
  readonly id: string;
  readonly baseUrl: string;
  readonly prompts: readonly string[];
  readonly permissions: "auto" | "ask";
  /** The file to which the tool adds its idempotency key each time it takes effect. */
  readonly effects: string;
  readonly idempotent: boolean;
  /** If false, the calls of the tool run one at a time. */
  readonly parallel?: boolean;
  /** What the hook `repairArguments` returns. */
  readonly repaired?: string;
  /** Where the second model is, which continues a turn when the first is down. */
  readonly fallbackUrl?: string;
  /** The JSON Schema of the answers. */
  readonly output?: Readonly<Record<string, unknown>>;
  /** For this city the tool waits forever, before or after its effect. */
  readonly block?: { readonly when: "before" | "after"; readonly city: string };
  /** The tool asks the person a question before its effect. */
  readonly asks?: boolean;
  /** The process kills itself at this system call of its log, or when it is about to write an event of this type. */
  readonly dieAt?: {
    readonly call: "write" | "sync";
    readonly nth: number;
    readonly when: "before" | "after" | "torn";
    readonly type?: string;
  };
}

export function crashModel({ baseUrl }: Pick<CrashPlan, "baseUrl">): Model {
  return openai("emu-reasoner", { apiKey: "sk-crash-test", baseUrl });
}

export function crashFallback({ fallbackUrl }: Pick<CrashPlan, "fallbackUrl">): readonly Model[] {
  return fallbackUrl === undefined
    ? []
    : [anthropic("emu-claude", { apiKey: "sk-crash", baseUrl: fallbackUrl })];
}

export function weatherTool(
  {
    effects,
    idempotent,
    parallel,
    block,
    asks,
  }: Pick<CrashPlan, "effects" | "idempotent" | "parallel" | "block" | "asks">,
  say: (word: string, value: unknown) => void = () => undefined,
): Tool {
  const wait = async (when: "before" | "after", city: string): Promise<void> => {
    if (block?.when !== when || block.city !== city) return;
    say(`blocked-${when}`, city);
    await new Promise(() => setInterval(() => undefined, 60_000));
  };
  return tool({
    name: "get_weather",
    description: "Weather of a city",
    input: {
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
      additionalProperties: false,
    },
    access: "write",
    idempotent,
    parallel,
    async run(input, context) {
      const { idempotencyKey } = context;
      const city = String(input["city"]);
      if (asks === true)
        await elicitFrom(context)?.({
          server: "weather",
          message: "Which unit?",
          mode: "form",
          fields: [UNIT],
        });
      await wait("before", city);
      appendFileSync(effects, `${city} ${idempotencyKey}\n`);
      say("effect", city);
      await wait("after", city);
      return `Sunny in ${city}, 21C`;
    },
  });
}
