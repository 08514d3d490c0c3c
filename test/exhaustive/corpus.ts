/**
 * Logs of real sessions for the exhaustive suites: conversations with tools over every dialect, against the emulator,
 * with model switches before a turn and in the middle of a tool loop, a cancelled turn, a cut stream, a branch, a
 * compaction.
 *
 * @module
 */

import { type Fault, startEmulator } from "../../src/emulator/index.ts";
import {
  anthropic,
  createAgent,
  type Effort,
  type LoggedEvent,
  memoryStore,
  type Model,
  openai,
  openaiChat,
  PROFILES,
  type Session,
} from "../../src/index.ts";
import { frameLine } from "../../src/runtime/log/line-framing.ts";
import { emulatedProfile } from "../../src/runtime/models/index.ts";
import { instantClock } from "../support/instant-clock.ts";
import { practiceTools } from "../support/practice-tools.ts";

export const KEY = "key-one";

/** One of the emulator's models, in the dialect it speaks. */
export function emulatedModel(name: string, baseUrl: string, effort?: Effort): Model {
  const profile = emulatedProfile(name);
  const dialect = PROFILES[profile]?.dialect;
  const options = { baseUrl, apiKey: KEY, profile, ...(effort === undefined ? {} : { effort }) };
  if (dialect === "anthropic-messages")
    return anthropic(name, { ...options, baseUrl: baseUrl.replace(/\/v1$/, "") });
  return dialect === "openai-chat" ? openaiChat(name, options) : openai(name, options);
}

export interface Part {
  readonly prompt: string;
  readonly model?: string;
  /** The model to switch to when the first tool of the turn starts. */
  readonly inLoop?: string;
  readonly cancelInTool?: boolean;
  readonly fault?: Fault;
  readonly afterwards?: "retry" | "undo" | "compact";
}

export interface Recorded {
  readonly events: readonly LoggedEvent[];
  /** The address of its models: to any other address its payloads would be abroad. */
  readonly baseUrl: string;
}

/** Plays a session through these parts. */
export async function converse(parts: readonly Part[]): Promise<Recorded> {
  const clock = instantClock();
  const emulator = await startEmulator({ seed: "the corpus", clock: instantClock() });
  let began: (() => void) | undefined;
  const use = (session: Session, name: string): Promise<void> =>
    session.setModel(emulatedModel(name, emulator.baseUrl));
  const agent = createAgent({
    model: emulatedModel(parts[0]?.model ?? "emu-reasoner", emulator.baseUrl),
    system: "Be brief.",
    tools: practiceTools({ began: () => began?.() }),
    permissions: "auto",
    limits: { maxSteps: 6, toolGraceMs: 1 },
    clock,
  });
  const session = await agent.open({ id: "corpus", store: memoryStore({ clock }) });
  try {
    for (const part of parts) {
      if (part.model !== undefined) await use(session, part.model);
      if (part.fault !== undefined) emulator.addFaults(part.fault);
      const turn = session.send(part.prompt);
      began = () => {
        began = undefined;
        if (part.inLoop !== undefined) void use(session, part.inLoop);
        if (part.cancelInTool === true) turn.cancel();
      };
      await turn.result();
      began = undefined;
      if (part.afterwards === "retry") await session.retry().result();
      else if (part.afterwards === "undo") await session.keepLastTurns(1);
      else if (part.afterwards === "compact") await session.compact();
    }
    const events: LoggedEvent[] = [];
    for await (const event of session.events()) events.push(event);
    return { events, baseUrl: emulator.baseUrl };
  } finally {
    await session.close();
    await emulator.close();
  }
}

const cutAfter = (index: number): Fault => ({ type: "cut", at: { where: "after", unit: "event", index } });

const WEATHER = "What is the weather in Paris?";
const TWO = "What is the weather in Paris and Rome?";
const FILES = "Look at two files, thinking in between.";
const ODD = "My name is Ada. Grüße 👋\u2028“a\\b”\u0000\ttab\r\nnew line";

/** Every dialect at home, and every crossing between them. */
export const CORPUS: Readonly<Record<string, readonly Part[]>> = {
  responses: [
    { prompt: WEATHER, model: "emu-reasoner" },
    { prompt: ODD },
    { prompt: TWO, fault: cutAfter(9) },
    { prompt: "Do the five-step chain." },
    { prompt: FILES, cancelInTool: true },
    { prompt: "Think without a summary.", afterwards: "retry" },
  ],
  messages: [
    { prompt: WEATHER, model: "emu-claude" },
    { prompt: ODD },
    { prompt: TWO, fault: cutAfter(9) },
    { prompt: FILES, cancelInTool: true },
    { prompt: "Think of a number.", model: "emu-claude-bound", afterwards: "retry" },
    { prompt: WEATHER, model: "emu-claude-plain" },
  ],
  chat: [
    { prompt: WEATHER, model: "emu-deepseek" },
    { prompt: ODD },
    { prompt: TWO, fault: cutAfter(9) },
    { prompt: FILES, cancelInTool: true },
    { prompt: WEATHER, model: "emu-kimi", afterwards: "undo" },
    { prompt: TWO, model: "emu-router" },
    { prompt: "Hello", model: "emu-groq" },
    { prompt: WEATHER, model: "emu-mistral" },
  ],
  crossings: [
    { prompt: WEATHER, model: "emu-reasoner", inLoop: "emu-claude" },
    { prompt: TWO, inLoop: "emu-deepseek" },
    { prompt: FILES, inLoop: "emu-reasoner" },
    { prompt: "Think of a number.", model: "emu-claude", inLoop: "emu-router" },
    { prompt: TWO, model: "emu-chat", inLoop: "emu-kimi" },
    { prompt: WEATHER, model: "emu-reasoner-two", cancelInTool: true },
    { prompt: "Hello", model: "emu-deepseek-old" },
    { prompt: TWO, model: "emu-claude-bound", inLoop: "emu-reasoner" },
  ],
  compacted: [
    { prompt: TWO, model: "emu-reasoner" },
    { prompt: WEATHER, model: "emu-claude" },
    { prompt: ODD, model: "emu-deepseek", afterwards: "compact" },
    { prompt: WEATHER },
    { prompt: TWO, model: "emu-claude" },
    { prompt: WEATHER, model: "emu-reasoner", afterwards: "retry" },
  ],
};

/** The lines as the file log would have written them. */
export function linesOf(events: readonly LoggedEvent[]): readonly Buffer[] {
  return events.map((event) => frameLine(event));
}
