/**
 * Nothing that was shown disappears: after any edits, retries, undos, cuts and checkouts, each listed version leads to what
 * was shown when it was left, and every message that a person sent can be reached through versions.
 */

import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";

import { type Emulator, startEmulator } from "../../src/emulator/index.ts";
import { createAgent, type LoggedEvent, memoryStore, openai, type Session } from "../../src/index.ts";
import {
  type Block,
  BlockList,
  blocksOf,
  type BlockVersions,
  type UserBlock,
} from "../../src/interface/fragments/index.ts";
import { runs, Tally, timeoutFor } from "../support/runs.ts";
import { weatherTool } from "../support/weather-tool.ts";

const QUICK = 60;
const tally = new Tally();
let emulator: Emulator;

beforeAll(async () => {
  emulator = await startEmulator();
});
afterAll(async () => {
  await emulator.close();
  tally.print("block versions");
});

const operation = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("send"), tool: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("edit"), pick: fc.nat(9) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("retry") }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("undo") }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("truncate"), pick: fc.nat(99) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("rule") }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("compact") }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("version"), pick: fc.nat(99) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("stop") }) },
);

interface Operation {
  readonly do: string;
  readonly pick?: number;
  readonly tool?: boolean;
}

interface Shown {
  readonly blocks: readonly Block[];
  readonly versions: BlockVersions;
}

async function look(session: Session): Promise<Shown> {
  const list = new BlockList();
  const events: LoggedEvent[] = [];
  for await (const event of session.events()) events.push(event);
  list.add(events);
  return { blocks: list.view({ writerAlive: true }), versions: list.versions() };
}

const isMessage = (block: Block): block is UserBlock =>
  block.kind === "user" && block.by === "person" && block.steer !== true;

/** A turn that was cut into is closed again, under the same id but with other facts. */
const nameOf = (block: Block): string =>
  block.kind === "turn_end" ? `${block.id} ${block.status} ${block.durationMs}` : block.id;

const namesOf = (blocks: readonly Block[]): readonly string[] => blocks.map(nameOf);

const allOf = ({ messages, answers, undone }: BlockVersions): readonly { readonly to: number }[] => [
  ...[...messages.values()].flat(),
  ...[...answers.values()].flat(),
  ...undone,
];

/** The answer to a message: what follows it until the next one, without notices. */
function answerTo(id: string, blocks: readonly Block[]): string {
  const begin = blocks.findIndex((block) => block.id === id) + 1;
  const length = blocks.slice(begin).findIndex(isMessage);
  return blocks
    .slice(begin, length === -1 ? undefined : begin + length)
    .filter(({ kind }) => kind !== "notice")
    .map(nameOf)
    .join(" ");
}

/** What was shown before each branch, and at the end. Not what the runtime asks for a summary. */
async function shownBefore(session: Session): Promise<readonly (readonly Block[])[]> {
  const events: LoggedEvent[] = [];
  for await (const event of session.events()) events.push(event);
  const ends = events.flatMap(({ type, seq }) => (type === "branch" ? [seq] : []));
  return [...ends, events.length]
    .map((end) => blocksOf(events.slice(0, end), { writerAlive: true }))
    .filter((blocks) => !blocks.some((block) => block.kind === "user" && block.by === "runtime"));
}

async function play(session: Session, step: Operation, number: number): Promise<void> {
  const { blocks, versions } = await look(session);
  const messages = blocks.filter(isMessage);
  const chosen = messages[(step.pick ?? 0) % Math.max(1, messages.length)];
  switch (step.do) {
    case "edit":
      if (chosen !== undefined) await session.edit(chosen.seq, `Edited ${number}`).result();
      break;
    case "retry":
      if (messages.length > 0) await session.retry().result();
      break;
    case "undo":
      if (messages.length > 0) await session.undo();
      break;
    case "truncate": {
      const seqs = blocks.flatMap((block) => ("seq" in block && block.seq !== undefined ? [block.seq] : []));
      const seq = seqs[(step.pick ?? 0) % Math.max(1, seqs.length)];
      if (seq !== undefined) await session.truncateFrom(seq);
      break;
    }
    case "rule":
      if (session.rules.length === 0) await session.allow("get_weather");
      else await session.disallow("get_weather");
      break;
    case "compact":
      if (messages.length > 1) await session.compact();
      break;
    case "version": {
      const all = allOf(versions);
      const one = all[(step.pick ?? 0) % Math.max(1, all.length)];
      if (one !== undefined) await session.checkout({ to: one.to });
      break;
    }
    case "stop": {
      const turn = session.send(`Stopped ${number}`);
      for await (const event of turn) if (event.type === "reasoning_start") turn.cancel();
      await turn.result();
      break;
    }
    default:
      await session.send(step.tool === true ? "What is the weather in Paris?" : `Message ${number}`).result();
  }
}

async function opened(): Promise<Session> {
  const agent = createAgent({
    model: openai("emu-reasoner", { apiKey: "key-for-tests", baseUrl: emulator.baseUrl }),
    tools: [weatherTool],
    permissions: "ask",
  });
  return agent.open({ store: memoryStore() });
}

test(
  "each version leads to what was shown when it was left",
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { minLength: 2, maxLength: 12 }), async (steps) => {
        const session = await opened();
        for (const [number, step] of steps.entries()) await play(session, step, number);
        const { versions, blocks } = await look(session);
        const shown = await shownBefore(session);
        const lastWith = (has: (seen: readonly Block[]) => boolean): readonly string[] =>
          namesOf(shown.findLast(has) ?? []);
        const after = async (to: number): Promise<readonly Block[]> => {
          await session.checkout({ to });
          tally.add("checkouts");
          return (await look(session)).blocks;
        };
        for (const [id, list] of versions.messages) {
          expect(list.filter((one) => one.shown)).toHaveLength(1);
          const nth = blocks.filter(isMessage).findIndex((block) => block.id === id);
          for (const { to, shown: isShown } of list) {
            const now = await after(to);
            if (isShown) expect(namesOf(now)).toEqual(namesOf(blocks));
            const message = now.filter(isMessage)[nth]?.id;
            expect(namesOf(now)).toEqual(lastWith((seen) => seen.some((block) => block.id === message)));
          }
        }
        for (const [id, list] of versions.answers) {
          expect(list.filter((one) => one.shown)).toHaveLength(1);
          const answers = new Set<string>();
          for (const { to, shown: isShown } of list) {
            const now = await after(to);
            if (isShown) expect(namesOf(now)).toEqual(namesOf(blocks));
            const answer = answerTo(id, now);
            answers.add(answer);
            const left = (seen: readonly Block[]): boolean =>
              seen.some((block) => block.id === id) && answerTo(id, seen) === answer;
            expect(namesOf(now)).toEqual(lastWith(left));
          }
          expect(answers.size).toBe(list.length);
        }
        for (const { to } of versions.undone) {
          const now = await after(to);
          expect(shown.map((seen) => namesOf(seen))).toContainEqual(namesOf(now));
          expect(now.filter(({ kind }) => kind !== "notice").length).toBeGreaterThan(
            blocks.filter(({ kind }) => kind !== "notice").length,
          );
        }
        await session.close();
      }),
      runs(QUICK),
    );
    expect(tally.get("checkouts")).toBeGreaterThan(0);
  },
  timeoutFor(QUICK),
);

test(
  "every message that was ever sent can be reached through versions",
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { minLength: 2, maxLength: 12 }), async (steps) => {
        const session = await opened();
        for (const [number, step] of steps.entries()) await play(session, step, number);
        const sent = new Set<string>();
        for await (const event of session.events())
          if (event.type === "user_message" && event.by === "person") sent.add(`user/${event.seq}`);
        const seen = new Set<string>();
        const tried = new Set<string>();
        const open: number[] = [];
        const visit = async (): Promise<void> => {
          const { blocks, versions } = await look(session);
          const key = namesOf(blocks).join(" ");
          if (tried.has(key)) return;
          tried.add(key);
          for (const block of blocks) if (isMessage(block)) seen.add(block.id);
          for (const { to } of allOf(versions)) open.push(to);
        };
        await visit();
        for (let to = open.pop(); to !== undefined; to = open.pop()) {
          await session.checkout({ to });
          await visit();
        }
        expect([...sent].filter((id) => !seen.has(id))).toEqual([]);
        tally.add("messages", sent.size);
        await session.close();
      }),
      runs(QUICK),
    );
    expect(tally.get("messages")).toBeGreaterThan(0);
  },
  timeoutFor(QUICK),
);
