/**
 * Law 6 over the corpus: after every prefix of every log, with every model of every dialect, every replay policy, and
 * thinking on and off, a judge that remembers nothing accepts the next request.
 */

import { createHash } from "node:crypto";

import { afterAll, expect, test } from "vitest";

import { type Emulator, startEmulator } from "../../src/emulator/index.ts";
import type { Effort, LoggedEvent } from "../../src/index.ts";
import { planOf } from "../../src/runtime/fold/index.ts";
import { driverOf } from "../../src/runtime/providers/dialects.ts";
import type { Model } from "../../src/runtime/providers/index.ts";
import { settingsFor } from "../../src/runtime/session/settings.ts";
import { stamped, userMessage } from "../support/next-request.ts";
import { practiceTools } from "../support/practice-tools.ts";
import { Tally } from "../support/runs.ts";
import { CORPUS, converse, emulatedModel, KEY } from "./corpus.ts";
import { EXHAUSTIVE, PATIENCE_MS, someOf } from "./how-much.ts";

const tally = new Tally();
afterAll(() => tally.print(`next requests of every prefix (${EXHAUSTIVE ? "all" : "a sample"})`));

const MODELS = [
  "emu-reasoner",
  "emu-reasoner-two",
  "emu-claude",
  "emu-claude-bound",
  "emu-claude-plain",
  "emu-deepseek",
  "emu-deepseek-old",
  "emu-kimi",
  "emu-mistral",
  "emu-groq",
  "emu-router",
  "emu-chat",
] as const;

const tools = practiceTools({ began: () => undefined });

interface Asked {
  readonly model: string;
  readonly effort: Effort | undefined;
  readonly reasoning: "all" | "since_last_user" | "none";
  /** A new message. If undefined, the same turn continues, which is what `resume` requests. */
  readonly say: string | undefined;
}

const ASKED: readonly Asked[] = MODELS.flatMap((model) => [
  { model, effort: undefined, reasoning: "all", say: "Thanks" },
  { model, effort: "off", reasoning: "all", say: "Thanks" },
  { model, effort: "high", reasoning: "since_last_user", say: "Thanks" },
  { model, effort: undefined, reasoning: "none", say: "Thanks" },
  { model, effort: undefined, reasoning: "all", say: undefined },
]);

test.each(Object.keys(CORPUS))(
  "%s: the next request of every prefix is accepted, whichever model gets it",
  async (name) => {
    const { events, baseUrl } = await converse(CORPUS[name] ?? []);
    const judge = await startEmulator();
    const known = new Set<string>();
    try {
      for (const index of someOf(events.length * ASKED.length, 60)) {
        const length = 1 + Math.floor(index / ASKED.length);
        const asked = ASKED[index % ASKED.length] as Asked;
        const prefix = events.slice(0, length);
        // Without a new message there is something to request only in the middle of a turn.
        if (asked.say === undefined && !isTurnOpen(prefix)) continue;
        const where = `prefix of ${length} of ${name}, ${JSON.stringify(asked)}, after ${events[length - 1]?.type}`;
        const all = asked.say === undefined ? prefix : stamped(prefix, [userMessage(asked.say)]);
        const refusal = await verdictOn(
          all,
          emulatedModel(asked.model, baseUrl, asked.effort),
          asked,
          judge,
          known,
        );
        expect(refusal, where).toBeUndefined();
      }
      const { requests } = judge.report();
      expect(requests.filter(({ verdict }) => verdict !== "accepted")).toEqual([]);
    } finally {
      await judge.close();
    }
  },
  PATIENCE_MS,
);

/** A whole answer without calls needs no further request, even if its turn_end is missing. */
function isTurnOpen(events: readonly LoggedEvent[]): boolean {
  const begun = events.findLastIndex((event) => event.type === "user_message");
  const turn = events.slice(begun);
  if (begun === -1 || turn.some(({ type }) => type === "turn_end" || type === "branch")) return false;
  const whole = turn.findLast((event) => event.type === "response_end" && event.status === "completed");
  return (
    whole === undefined ||
    turn.some((event) => event.type === "tool_call" && event.response === whole.response)
  );
}

async function verdictOn(
  events: readonly LoggedEvent[],
  model: Model,
  { reasoning }: Asked,
  judge: Emulator,
  known: Set<string>,
): Promise<string | undefined> {
  const settings = settingsFor(model, { model, tools, system: "Be brief.", replay: { reasoning } });
  const plan = planOf(events, settings);
  if (plan === undefined) throw new Error("no plan");
  const { dialect } = settings.target;
  const driver = driverOf(dialect);
  const rendered = driver.createRenderer().render(plan, { cacheKey: "next", blob: () => undefined });
  expect(rendered.violations).toEqual([]);
  tally.add("requests");
  tally.add(`requests: ${dialect}`);
  const body = Buffer.concat(rendered.body).toString("utf8");
  const hash = createHash("sha256").update(body).digest("hex");
  if (known.has(hash)) return undefined;
  known.add(hash);
  tally.add("requests judged (the others are the same bytes)");
  const base = dialect === "anthropic-messages" ? judge.url : judge.baseUrl;
  const response = await fetch(`${base}${driver.path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...driver.headers(KEY, settings) },
    body,
  });
  const answer = await response.text();
  return response.ok ? undefined : `${response.status} ${answer}\n${body}`;
}
