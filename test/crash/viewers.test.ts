/** A follower in another process sees, as it happens, what a viewer in the writer's own process sees. */

import fc from "fast-check";
import { describe, expect, test } from "vitest";

import type { Fault } from "../../src/emulator/index.ts";
import { createAgent, fileStore, type Session, type SessionEvent } from "../../src/index.ts";
import { type Block, BlockList } from "../../src/interface/fragments/index.ts";
import type { FileStoreOptions } from "../../src/runtime/log/index.ts";
import { temporaryFolder } from "../contracts/file-fixture.ts";
import { scriptedSession, type ScriptStep } from "../contracts/session-fixture.ts";
import { runs } from "../support/runs.ts";
import { type Crash, startCrash } from "./crash-fixture.ts";
import { crashModel, weatherTool } from "./crash-plan.ts";

/** A viewer: the blocks of the events it got, and a way to wait for them. */
class Viewer {
  readonly events: SessionEvent[] = [];
  readonly ended: Promise<void>;
  readonly #session: Session;
  readonly #list = new BlockList();
  readonly #stop = new AbortController();
  #wake: (() => void) | undefined;

  constructor(session: Session, after = -1) {
    this.#session = session;
    session.onChange(() => this.#wake?.());
    this.ended = this.#follow(after);
  }

  get blocks(): readonly Block[] {
    return this.#list.view({ writerAlive: this.#session.writer === "live" });
  }

  async until(fits: (viewer: this) => boolean): Promise<void> {
    while (!fits(this))
      await new Promise<void>((done) => {
        this.#wake = done;
      });
  }

  async leave(): Promise<void> {
    this.#stop.abort();
    await this.ended;
  }

  async #follow(after: number): Promise<void> {
    for await (const event of this.#session.follow({ after, signal: this.#stop.signal })) {
      this.events.push(event);
      this.#list.add([event]);
      this.#wake?.();
    }
  }
}

const stallAfter = (event: number): Fault => ({
  type: "stall",
  at: { where: "after", unit: "event", index: event },
});

const WITHOUT_HINTS: FileStoreOptions = {
  watch: () => {
    throw Object.assign(new Error("made by the test"), { code: "ENOSPC" });
  },
};

async function readerOf(crash: Crash, options: FileStoreOptions = {}): Promise<Session> {
  const { plan } = crash;
  const agent = createAgent({ model: crashModel(plan), tools: [weatherTool(plan)] });
  return agent.open({ id: plan.id, store: fileStore(plan.folder, options), mode: "read" });
}

const shownOf = (blocks: readonly Block[]): string =>
  blocks
    .map((block) =>
      block.kind === "reasoning"
        ? block.parts.map(({ title, body }) => `${title ?? ""}\n${body}`).join("\n")
        : block.kind === "text"
          ? block.text
          : "",
    )
    .join("\n");

describe.each([
  ["with file system hints", {}],
  ["without", WITHOUT_HINTS],
] as const)("a writer in another process (%s)", (_how, options) => {
  test("is seen thinking live; once killed it is seen to be gone, and what it showed stays for late viewers", async () => {
    const crash = await startCrash({}, { faults: [stallAfter(14)] });
    await crash.seen("reasoning_delta");
    const reader = await readerOf(crash, options);
    const viewer = new Viewer(reader);
    await viewer.until(({ blocks }) => blocks.some(({ kind }) => kind === "reasoning"));
    await viewer.until(({ blocks }) => shownOf(blocks).includes("Checking the weather"));
    expect(reader.writer).toBe("live");
    expect(viewer.blocks.at(-1)).toMatchObject({ kind: "reasoning", generating: true });
    const types = viewer.events.map(({ type }) => type);
    expect(types.indexOf("reasoning_start")).toBeGreaterThan(types.indexOf("response_start"));
    // A viewer that joins now gets the open items; both get the rest in the same batches.
    const second = new Viewer(reader);
    await second.until(({ blocks }) => shownOf(blocks) === shownOf(viewer.blocks));

    await crash.kill();
    await viewer.until(() => reader.writer === "none");
    expect(viewer.blocks.filter(({ generating }) => generating)).toEqual([]);
    expect(shownOf(viewer.blocks)).toContain("Checking the weather");
    const shown = shownOf(viewer.blocks);
    await viewer.leave();
    await second.leave();

    const late = new Viewer(reader);
    await late.until(({ blocks }) => shownOf(blocks) === shown);
    expect(late.blocks.filter(({ generating }) => generating)).toEqual([]);
    expect(late.events.filter(({ type }) => type === "reasoning_start")).toHaveLength(1);
    await reader.close();
    await late.ended;

    // The next writer closes it. A viewer ends with the content of the log, as it would after a reload.
    const again = await readerOf(crash, options);
    const last = new Viewer(again);
    await last.until(({ blocks }) => shownOf(blocks) === shown);
    const session = await crash.reopen();
    await session.resume().result();
    await last.until(({ events }) => events.some(({ type }) => type === "turn_end"));
    const reloaded = new BlockList();
    for await (const event of session.events()) reloaded.add([event]);
    expect(last.blocks).toEqual(reloaded.view({ writerAlive: true }));
    await again.close();
    await last.ended;
  });
});

const word = fc.constantFrom("one ", "two\n", "**Bold**\n\n", "ü😀 ", "* ", "x".repeat(40));
const words = fc.array(word, { minLength: 1, maxLength: 12 }).map((all) => all.join(""));
const item = fc.oneof(
  fc.array(words, { minLength: 1, maxLength: 3 }).map((reasoning) => ({ reasoning })),
  words.map((text) => ({ message: text })),
);

test("a reader of the log sees, live and at the end, the same blocks as a viewer of the writing session, whatever the model says", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(item, { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 3, max: 60 }),
      async (output, stall) => {
        const folder = temporaryFolder();
        const script: readonly ScriptStep[] = [{ output: [...output, { message: "The end." }] }];
        const { session, agent } = await scriptedSession(script, {
          store: fileStore(folder),
          emulator: { faults: [stallAfter(stall)] },
        });
        await session.rename("so that there is a log");
        const here = new Viewer(session);
        const reader = await agent.open({ id: "s1", store: fileStore(folder), mode: "read" });
        const there = new Viewer(reader);
        const turn = session.send("go on");
        await here.until(({ blocks }) => blocks.length > 1);
        // While it streams, the remote viewer catches up with the local one, again and again.
        for (let look = 0; look < 3; look += 1) {
          const now = shownOf(here.blocks);
          await there.until(({ blocks }) => shownOf(blocks).startsWith(now));
          await new Promise((done) => setImmediate(done));
        }
        turn.cancel();
        await turn.result();
        const isOver = ({ events }: Viewer): boolean => events.some(({ type }) => type === "turn_end");
        await Promise.all([here.until(isOver), there.until(isOver)]);
        expect(there.blocks).toEqual(here.blocks);
        expect(there.events.filter((event) => "seq" in event)).toEqual(
          here.events.filter((event) => "seq" in event),
        );
        await Promise.all([here.leave(), there.leave()]);
        await reader.close();
        await session.close();
      },
    ),
    runs(12),
  );
});
