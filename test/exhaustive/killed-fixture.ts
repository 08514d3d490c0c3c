/** Kills a session in its own process, continues what it left, and judges the whole. */

import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";

import { expect } from "vitest";

import type { Emulator } from "../../src/emulator/index.ts";
import { createAgent, fileStore, type LoggedEvent, tool } from "../../src/index.ts";
import { childProgram } from "../support/built.ts";
import { afterFile } from "../support/clean-up.ts";
import { text } from "../support/tool-schema.ts";
import { emulatedModel } from "./corpus.ts";
import { quickFolder } from "./how-much.ts";
import { type KilledPlan, SESSION } from "./killed-plan.ts";

export function killFolder(): string {
  const folder = quickFolder();
  afterFile(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface Said {
  readonly events: readonly LoggedEvent[];
  readonly writes: readonly {
    readonly nth: number;
    readonly bytes: number;
    readonly types: readonly string[];
  }[];
  readonly counts: { readonly write: number; readonly sync: number; readonly tool: number } | undefined;
}

/** Runs it to its end, whatever that is. `under` is put before the command: strace with its options. */
export async function runChild(plan: KilledPlan, under: readonly string[] = []): Promise<Said> {
  const whole = [...under, process.execPath, childProgram("killed-child"), JSON.stringify(plan)];
  // One thread for the disk: then the nth fdatasync is the nth of its thread, which is how strace counts.
  const env = { ...process.env, UV_THREADPOOL_SIZE: "1" };
  const child = spawn(whole[0] ?? "", whole.slice(1), { stdio: ["ignore", "pipe", "pipe"], env });
  let output = "";
  let errors = "";
  child.stdout.on("data", (data: Buffer) => (output += data.toString("utf8")));
  child.stderr.on("data", (data: Buffer) => (errors += data.toString("utf8")));
  const [code, signal] = await new Promise<[number | null, string | null]>((done) => {
    child.once("close", (...how) => done(how));
  });
  if (signal !== "SIGKILL" && code !== 0 && code !== 137)
    throw new Error(`the child ended with ${code}: ${errors}`);
  const lines = output.split("\n").slice(0, -1);
  const of = (word: string): readonly unknown[] =>
    lines.flatMap((line) => (line.startsWith(`${word} `) ? [JSON.parse(line.slice(word.length + 1))] : []));
  return {
    events: of("event") as LoggedEvent[],
    writes: of("write") as Said["writes"],
    counts: of("end")[0] as Said["counts"],
  };
}

export function effectsOf({ effects }: KilledPlan): readonly string[] {
  return existsSync(effects) ? readFileSync(effects, "utf8").split("\n").slice(0, -1) : [];
}

/** Opens what was left and continues: no acknowledged event is lost, no tool runs twice, nothing is refused. */
export async function expectGoesOn(plan: KilledPlan, said: Said, emulator: Emulator): Promise<void> {
  const ran = effectsOf(plan);
  const again: string[] = [];
  const agent = createAgent({
    model: emulatedModel(plan.model, emulator.baseUrl),
    tools: [
      tool({
        name: "get_weather",
        description: "Weather of a city",
        input: text("city"),
        access: "write",
        run: async ({ city }, { idempotencyKey }) => {
          again.push(`${String(city)} ${idempotencyKey}`);
          return `Sunny in ${String(city)}, 21C`;
        },
      }),
    ],
    permissions: "auto",
  });
  // By number: the emulator keeps the last thousand of them, and a full form makes many more.
  const before = emulator.exchanges.at(-1)?.index ?? -1;
  const session = await agent.open({ id: SESSION, store: fileStore(plan.folder) });
  try {
    const turn = session.interrupted ? session.resume() : session.send("What is the weather in Paris?");
    expect(await turn.result()).toMatchObject({ status: "completed" });
    expect(await session.send("Thanks").result()).toMatchObject({ status: "completed" });
    const history: LoggedEvent[] = [];
    for await (const event of session.events()) history.push(event);
    for (const event of said.events) expect(history[event.seq]).toEqual(event);
    expect(history.map(({ seq }) => seq)).toEqual(history.map((_, index) => index));
    // Every effect has its own start, which was in the log before; none happened twice.
    const effects = [...ran, ...again];
    expect(new Set(effects).size).toBe(effects.length);
    const keys = history.flatMap((event) => (event.type === "tool_start" ? [event.idempotencyKey] : []));
    for (const effect of effects) expect(keys).toContain(effect.split(" ")[1]);
    // Nor is a started call made again under another key.
    const starts = history.flatMap((event) => (event.type === "tool_start" ? [event.callId] : []));
    expect(new Set(starts).size).toBe(starts.length);
    const turns = new Set(history.flatMap((event) => (event.turn === undefined ? [] : [event.turn])));
    expect(history.filter((event) => event.type === "turn_end")).toHaveLength(turns.size);
    const refused = emulator.exchanges.filter(
      ({ index, report }) => index > before && report !== null && report.verdict !== "accepted",
    );
    expect(refused.map(({ report }) => report?.message)).toEqual([]);
  } finally {
    await session.close();
  }
}
