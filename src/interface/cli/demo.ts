/**
 * The demo: one complete conversation on the built-in emulator, with reasoning, tool calls and a follow-up that needs
 * the earlier reasoning. It plays if there is no terminal to chat on.
 */

import { turnEnding } from "../../base/api/index.ts";
import { emulator } from "../../runtime/models/index.ts";
import { createAgent, type Session } from "../../runtime/session/index.ts";
import { tool, type Tool } from "../../runtime/tools/index.ts";
import { EXIT } from "./exit-codes.ts";
import { inert, inertLine } from "./inert-text.ts";
import { openStore, type StoreFlags, storeSecrets } from "./open-store.ts";
import { ProgressLines } from "./show-progress.ts";
import { stopOnSignals } from "./signals.ts";
import type { Terminal } from "./terminal.ts";
import { whenUnread } from "./unread-output.ts";

/** Invents the weather, so that the demo does not touch the user's files or the network. */
export const weatherTool: Tool = tool({
  name: "get_weather",
  description: "The weather of a city (made up, for the demo)",
  input: {
    type: "object",
    properties: { city: { type: "string", description: "The city's name" } },
    required: ["city"],
    additionalProperties: false,
  },
  access: "read",
  idempotent: true,
  run: (input) => {
    const city = String((input as { readonly city?: unknown }).city);
    const degrees = 12 + (Buffer.from(city).reduce((sum, byte) => sum + byte, 0) % 16);
    return `${degrees} °C and ${degrees % 2 === 0 ? "sunny" : "cloudy"} in ${city}`;
  },
});

/** The number is only in the encrypted reasoning, so the last answer is right only if the reasoning was sent back. */
const PROMPTS = [
  "What is the weather in Paris and in Rome?",
  "Think of a number.",
  "Which number did you think of?",
];
const PACE_MS = 2;

export async function demo(terminal: Terminal, flags: StoreFlags = {}): Promise<number> {
  const { stdout } = terminal;
  const agent = createAgent({
    model: emulator({ paceMs: PACE_MS }),
    tools: [weatherTool],
    cwd: process.cwd(),
    secrets: storeSecrets(flags),
  });
  const session = await agent.open({ store: await openStore(flags) });
  stdout.write(
    "A conversation on the built-in emulator (no key, no network): thinking, tools, and a follow-up.\n",
  );
  try {
    for (const prompt of PROMPTS) {
      stdout.write(`\n› ${prompt}\n`);
      const code = await play(session, prompt, { ...terminal, stderr: stdout });
      if (code !== undefined) return code;
    }
    await proof(session, stdout);
    return EXIT.ok;
  } finally {
    await session.close();
  }
}

async function play(session: Session, prompt: string, terminal: Terminal): Promise<number | undefined> {
  const turn = session.send(prompt);
  const stop = stopOnSignals(() => turn.cancel());
  const unread = whenUnread(() => turn.cancel());
  const progress = new ProgressLines(terminal);
  for await (const event of turn) progress.show(event);
  const { status, reason, text, error } = await turn.result();
  terminal.stdout.write(`${inert(text)}\n`);
  if (status !== "completed") {
    const why = error === undefined ? "" : `: ${inertLine(error.message, 500)} [${error.code}]`;
    terminal.stdout.write(`the turn ${turnEnding({ status, reason })}${why}\n`);
  }
  return stop() ?? unread() ?? (status === "completed" ? undefined : EXIT.turnFailed);
}

/** The point of the demo: all reasoning goes back to the model that produced it. */
async function proof(session: Session, out: NodeJS.WritableStream): Promise<void> {
  const reasoning = (await session.explain()).filter(({ type }) => type === "reasoning");
  const kept = reasoning.filter(({ action }) => action === "replay").length;
  out.write(`\nThe next request would hand back ${kept} of ${reasoning.length} thoughts, byte for byte.\n`);
  out.write(`Log: ${session.location}\nTo continue on a terminal: ${startedBy()} -r ${session.id}\n`);
}

/** The command the user typed: in the repository, `throughline` may not be installed. */
function startedBy(): string {
  return process.env["npm_lifecycle_event"] === "start" ? "npm start --" : "throughline";
}
