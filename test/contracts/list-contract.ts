/** What every store must do when it lists its sessions (src/runtime/log/log.ts). Part of the log contract. */

import { afterEach, describe, expect, test } from "vitest";

import type { LoggedEvent, Usage } from "../../src/base/events/index.ts";
import { factsOf, summaryOf } from "../../src/runtime/facts/index.ts";
import type { AppendDraft, ListOptions, Store, StoredSession } from "../../src/runtime/log/index.ts";
import { HOME, LogBuilder } from "./log-builder.ts";
import type { StoreUnderTest } from "./log-contract.ts";

const usage: Usage = { inputTokens: 10, cachedTokens: 4, outputTokens: 6, reasoningTokens: 2 };

const draftsOf = (events: readonly LoggedEvent[]): readonly AppendDraft[] =>
  events.flatMap((event) => (event.type === "unknown" ? [] : [event]));

const begun = (cwd: string, title: string): LogBuilder =>
  new LogBuilder()
    .add({ type: "session_start", session: "s", root: "s", writer: "test", cwd })
    .settings()
    .add({ type: "title", title });

/** Two turns, three requests to two models, one of them without a known price. */
const conversation = (): LogBuilder =>
  begun("/work/Here", "A title")
    .user("one")
    .respond({ usage })
    .respond({ usage: { ...usage, contextTokens: 12 }, origin: { ...HOME, model: "other" } })
    .endTurn()
    .user("two")
    .respond({ status: "failed" })
    .respond({ usage })
    .add({ type: "title", title: "Another title" })
    .endTurn();

const put = (store: Store, id: string, log: LogBuilder): Promise<void> =>
  store.create(id, { events: draftsOf(log.events), blobs: new Map() });

async function listed(store: Store, options?: ListOptions): Promise<readonly StoredSession[]> {
  const found: StoredSession[] = [];
  for await (const one of store.list(options)) found.push(one);
  return found;
}

const idsOf = async (store: Store, options?: ListOptions): Promise<readonly string[]> =>
  (await listed(store, options)).map(({ id }) => id);

export function describeListContract(
  kind: string,
  create: () => Promise<StoreUnderTest> | StoreUnderTest,
): void {
  describe(`the session list of ${kind}`, () => {
    const made: StoreUnderTest[] = [];

    afterEach(async () => {
      for (const one of made.splice(0)) await one.dispose?.();
    });

    const setUp = async (): Promise<StoreUnderTest> => {
      const one = await create();
      made.push(one);
      return one;
    };
    /** Creates sessions that were last written at these times. */
    const storeOf = async (times: Readonly<Record<string, number>>): Promise<StoreUnderTest> => {
      const one = await setUp();
      for (const [id, at] of Object.entries(times)) {
        await put(one.store, id, begun("/work", `title of ${id}`));
        await one.touch(id, at);
      }
      return one;
    };

    const NOW = Date.now();
    const DAY = 86_400_000;
    const TIMES = {
      b: NOW - DAY,
      newest: NOW - 5,
      a: NOW - DAY,
      tomorrow: NOW + DAY,
      old: NOW - 2 * DAY,
      c: NOW - DAY,
      skewed: NOW + 5000,
      later: NOW + 2 * DAY,
    };
    const ORDER = ["skewed", "newest", "a", "b", "c", "old", "later", "tomorrow"];

    test("puts the newest sessions first, orders equal times by id, and puts future times last", async () => {
      const { store } = await storeOf(TIMES);
      expect(await idsOf(store)).toEqual(ORDER);
      expect(await idsOf(store, { summaries: false })).toEqual(ORDER);
    });

    test("stops at its limit, or earlier when the caller stops", async () => {
      const { store } = await storeOf(TIMES);
      expect(await idsOf(store, { limit: 3 })).toEqual(ORDER.slice(0, 3));
      expect(await idsOf(store, { limit: 100 })).toEqual(ORDER);
      const taken: string[] = [];
      for await (const { id } of store.list()) {
        taken.push(id);
        if (taken.length === 2) break;
      }
      expect(taken).toEqual(ORDER.slice(0, 2));
    });

    test.each([1, 2, 3, 5])("has every session once when read in pages of %i", async (limit) => {
      const { store } = await storeOf(TIMES);
      const pages: StoredSession[] = [];
      for (let behind: StoredSession | undefined; ; behind = pages.at(-1)) {
        const page = await listed(store, { limit, behind });
        pages.push(...page);
        if (page.length < limit) break;
      }
      expect(pages.map(({ id }) => id)).toEqual(ORDER);
    });

    test("continues a page at the right place when its anchor session was removed", async () => {
      const { store } = await storeOf(TIMES);
      const behind = (await listed(store)).find(({ id }) => id === "b");
      await store.remove("b");
      expect(await idsOf(store, { behind })).toEqual(["c", "old", "later", "tomorrow"]);
    });

    test("finds title, id and folder case-insensitively, and applies the limit to the matches", async () => {
      const { store } = await setUp();
      await put(store, "s_ABC", begun("/home/me", "Nothing special"));
      await put(store, "s_1", begun("/srv/Kitchen", "Soup"));
      await put(store, "s_2", begun("/home/me", "The kitchen sink, Ärger"));
      const found = async (search: string): Promise<readonly string[]> =>
        (await idsOf(store, { search })).toSorted();
      expect(await found("kitCHEN")).toEqual(["s_1", "s_2"]);
      expect(await found("s_abc")).toEqual(["s_ABC"]);
      expect(await found("ärger")).toEqual(["s_2"]);
      expect(await found("/HOME")).toEqual(["s_2", "s_ABC"]);
      expect(await found("")).toEqual(["s_1", "s_2", "s_ABC"]);
      expect(await found("nobody")).toEqual([]);
      expect(await idsOf(store, { search: "kitchen", limit: 1 })).toHaveLength(1);
      expect(await idsOf(store, { search: "sink", limit: 1 })).toEqual(["s_2"]);
    });

    test("searches by the current title", async () => {
      const { store } = await setUp();
      await put(store, "s", conversation());
      expect([await idsOf(store, { search: "another" }), await idsOf(store, { search: "a title" })]).toEqual([
        ["s"],
        [],
      ]);
    });

    test("has the facts of the log in every summary, even when read from another process", async () => {
      const { store, again } = await setUp();
      await put(store, "s", conversation());
      const { events } = await store.open("s", { mode: "read" });
      for (const other of [store, again?.() ?? store]) {
        const [one] = await listed(other);
        expect(one).toEqual({
          id: "s",
          modifiedAt: expect.any(Number) as number,
          bytes: expect.any(Number) as number,
          summary: summaryOf(factsOf(events)),
        });
        expect(one?.summary).toMatchObject({
          events: events.length,
          title: "Another title",
          cwd: "/work/Here",
          turns: 2,
          turnsEnded: 2,
          spent: [{ usage }, { usage: { contextTokens: 12 }, origin: { model: "other" } }, { usage }],
        });
      }
    });

    test("reports an open turn until it ends", async () => {
      const { store, again } = await setUp();
      const log = await store.open("s", { mode: "write" });
      const part = begun("/work", "open").user("one").respond({ status: "open" });
      await log.append(draftsOf(part.events), { turn: "begin" });
      const other = again?.() ?? store;
      expect((await listed(other))[0]?.summary).toEqual(summaryOf(factsOf(part.events)));
      expect((await listed(other))[0]?.summary).toMatchObject({ openTurn: "tn_1", turns: 1, turnsEnded: 0 });
      const whole = part.endTurn();
      await log.append(draftsOf(whole.events.slice(-1)), { turn: "end", durable: true });
      expect((await listed(other))[0]?.summary).toEqual(summaryOf(factsOf(whole.events)));
      await log.close();
      expect((await listed(other))[0]?.summary).toEqual(summaryOf(factsOf(whole.events)));
    });

    test("has every session once while one is being written, each as it was at some moment", async () => {
      const { store, again, touch } = await setUp();
      for (const [id, at] of [
        ["s3", NOW - 3000],
        ["s2", NOW - 2000],
        ["s1", NOW - 1000],
      ] as const) {
        await put(store, id, begun("/work", `before ${id}`));
        await touch(id, at);
      }
      const log = await store.open("s3", { mode: "write" });
      const found: StoredSession[] = [];
      for await (const one of (again?.() ?? store).list()) {
        found.push(one);
        await log.append([{ type: "title", title: `after ${one.id}` }]);
      }
      await log.close();
      expect(found.map(({ id, summary }) => [id, summary?.title])).toEqual([
        ["s1", "before s1"],
        ["s2", "before s2"],
        ["s3", "after s2"],
      ]);
      const [first] = await listed(store);
      expect([first?.id, first?.summary?.title]).toEqual(["s3", "after s3"]);
    });

    test("omits a session that is removed during the listing, and no other", async () => {
      const { store } = await storeOf({ a: NOW - 1000, b: NOW - 2000, c: NOW - 3000 });
      await listed(store);
      const found: string[] = [];
      for await (const { id } of store.list()) {
        if (found.length === 0) await store.remove("b");
        found.push(id);
      }
      expect(found).toEqual(["a", "c"]);
    });
  });
}
