/** One probe for each deliberate break: is it refused, and with which text? */

import { describe, type Acceptance, acceptanceOf, type Refusal } from "../acceptance.ts";
import { ASK, ASK_ON, type Context, WEATHER_TOOL } from "../context.ts";
import { differs, holds, type Verdict, probesOf, Skip } from "../probe.ts";
import { assistant, BROKEN_HISTORIES } from "./broken-histories.ts";
import { BROKEN_REASONING } from "./broken-reasoning.ts";
import type { Broken, BrokenReplays, Expected } from "./broken-replay.ts";
import { control } from "./replay.ts";
import { roundTrip } from "./tools.ts";

export const BROKEN_REPLAYS: BrokenReplays = { ...BROKEN_REASONING, ...BROKEN_HISTORIES };

export const BROKEN_PROBES = probesOf(
  "reasoning",
  Object.fromEntries(
    Object.entries(BROKEN_REPLAYS).map(([name, { breaks, title, build, ...row }]) => [
      `refuses.${name}`,
      {
        ...row,
        title: `refuses ${title}`,
        why: breaks.join(", rule "),
        run: async (context) => offerBroken(context, await build(context)),
      },
    ]),
  ),
);

async function offerBroken(context: Context, broken: Broken): Promise<Verdict> {
  await controlled(context, broken);
  const tools = broken.input.some((item) => item.includes("function_call")) ? { tools: [WEATHER_TOOL] } : {};
  const acceptance = await context.offer(broken.input, { ...tools, ...broken.fields });
  const expected = wanted(broken.expected);
  if (acceptance.accepted)
    return differs(expected, "accepted: this server is lenient here", { accepted: true });
  const { refusal } = acceptance;
  const facts = { accepted: false, limit: limitIn(refusal.message) ?? 0 };
  return agrees(refusal, broken.expected)
    ? holds(describe(refusal), facts)
    : differs(expected, `refused in its own way: ${describe(refusal)}`, facts);
}

/** A refusal proves nothing unless the unbroken history is accepted. */
async function controlled(context: Context, broken: Broken): Promise<void> {
  const unbroken = await unbrokenOf(context, broken.control);
  if (!unbroken.accepted)
    throw new Skip(`the unbroken history is refused too: ${describe(unbroken.refusal)}`);
}

async function unbrokenOf(context: Context, name: Broken["control"]): Promise<Acceptance> {
  if (name === "plain call") return acceptanceOf(await roundTrip(context));
  if (name !== "plain message") return control(context, name);
  return context.once("plain message", () => context.offer([ASK, assistant({}), ASK_ON]));
}

function agrees(refusal: Refusal, expected: Expected): boolean {
  return (
    refusal.status === expected.status &&
    !refusal.inStream &&
    refusal.code === expected.code &&
    (expected.param === undefined || refusal.param === expected.param) &&
    expected.texts.includes(refusal.message)
  );
}

function wanted({ status, code, param, texts }: Expected): string {
  const where = param === undefined ? "" : `, param ${param ?? "null"}`;
  return `HTTP ${status}, code ${code ?? "null"}${where}: ${texts[0] ?? ""}`;
}

/** Reads the server's own limit from "maximum length 64". */
function limitIn(message: string): number | undefined {
  const match = /maximum length (?:of )?(\d{1,6})/.exec(message);
  return match === null ? undefined : Number(match[1]);
}
