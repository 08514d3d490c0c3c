/** What every store must do, whatever it keeps its logs in (src/runtime/log/log.ts). Run once per store. */

import { afterEach, describe, expect, test } from "vitest";

import type { EventDraft, LoggedEvent } from "../../src/base/events/index.ts";
import type { RawJson } from "../../src/base/support/index.ts";
import type { AppendDraft, Log, Store } from "../../src/runtime/log/index.ts";
import { scanLines } from "../../src/runtime/log/line-framing.ts";
import { describeListContract } from "./list-contract.ts";

export interface StoreUnderTest {
  readonly store: Store;
  /** The same sessions as another process sees them. Absent if no other process can. */
  readonly again?: () => Store;
  /** Makes a session look as if it was last written at that time, for lists. May add an event. */
  readonly touch: (id: string, at: number) => Promise<void>;
  readonly dispose?: () => Promise<void>;
}

export const notice = (message: string): EventDraft => ({ type: "notice", code: "test", message });

export const messagesOf = (events: readonly LoggedEvent[]): readonly string[] =>
  events.map((event) => (event.type === "notice" ? event.message : event.type));

const raw = (text: string): RawJson => text as RawJson;

const itemDraft = (item: string): EventDraft => ({
  type: "other_item",
  turn: "tn_1",
  response: "rsp_1",
  outputIndex: 0,
  itemType: "weird",
  item: raw(item),
});

/** An event as a newer version might write it, of a type that drafts do not have. */
const newer = (fields: Readonly<Record<string, unknown>>): AppendDraft => fields as unknown as AppendDraft;

const codeOf = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "no error",
    (error: unknown) => (error as { readonly code?: unknown }).code,
  );

export function describeLogContract(
  kind: string,
  create: () => Promise<StoreUnderTest> | StoreUnderTest,
): void {
  describe(`the log contract of ${kind}`, () => {
    const made: StoreUnderTest[] = [];
    const logs: Log[] = [];

    afterEach(async () => {
      await Promise.all(logs.splice(0).map((log) => log.close()));
      for (const one of made.splice(0)) await one.dispose?.();
    });

    const setUp = async (): Promise<StoreUnderTest> => {
      const one = await create();
      made.push(one);
      return one;
    };
    const open = async (store: Store, mode: "write" | "read" = "write", id = "s1"): Promise<Log> => {
      const log = await store.open(id, { mode });
      logs.push(log);
      return log;
    };

    test("numbers events contiguously from 0, over appends of any size", async () => {
      const { store } = await setUp();
      const log = await open(store);
      const first = await log.append([notice("a"), notice("b")]);
      const none = await log.append([]);
      const second = await log.append([notice("c")]);
      expect([...first, ...none, ...second].map(({ seq }) => seq)).toEqual([0, 1, 2]);
      expect(messagesOf(log.events)).toEqual(["a", "b", "c"]);
      expect(log.events).toEqual([...first, ...second]);
    });

    test("refuses to append an event that a reader would refuse, and continues", async () => {
      const { store } = await setUp();
      const log = await open(store);
      await log.append([notice("a")]);
      const broken = { type: "notice", code: "test", message: 7 } as unknown as EventDraft;
      await expect(log.append([notice("b"), broken])).rejects.toMatchObject({
        code: "event_invalid",
        message: expect.stringContaining("notice: message is not a string"),
      });
      const nowhere: EventDraft = { type: "branch", to: 7, why: "undo" };
      const halfAnItem = itemDraft('{"type":"reasoning"');
      for (const bad of [nowhere, halfAnItem, itemDraft("not json"), itemDraft("")])
        await expect(log.append([bad])).rejects.toMatchObject({ code: "event_invalid" });
      await log.append([notice("c")]);
      expect(messagesOf(log.events)).toEqual(["a", "c"]);
    });

    test("gives every event the whole envelope and a distinct id", async () => {
      const { store } = await setUp();
      const log = await open(store);
      const [a, b] = await log.append([{ ...notice("a"), turn: "tn_1" }, notice("b")]);
      expect(a).toEqual({
        v: 1,
        seq: 0,
        id: expect.stringMatching(/^ev_[0-9a-z]{20,}$/),
        at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        epoch: 1,
        turn: "tn_1",
        type: "notice",
        code: "test",
        message: "a",
      });
      expect(a?.id).not.toBe(b?.id);
    });

    test("keeps the id and time of an event copied from another log", async () => {
      const { store } = await setUp();
      const log = await open(store);
      const copied = { ...notice("a"), id: "ev_copied", at: "2020-01-02T03:04:05.678Z" };
      await log.append([copied]);
      expect(log.events[0]).toMatchObject({ id: "ev_copied", at: "2020-01-02T03:04:05.678Z", seq: 0 });
    });

    test("gives each writer a higher epoch than all before it; an epoch that wrote nothing is not used up", async () => {
      const { store } = await setUp();
      for (const expected of [1, 2, 3]) {
        const idle = await open(store);
        await idle.close();
        const log = await open(store);
        const [event] = await log.append([notice(`writer ${expected}`)]);
        expect(event?.epoch).toBe(expected);
        await log.close();
      }
      const reader = await open(store, "read");
      expect(reader.events.map(({ epoch }) => epoch)).toEqual([1, 2, 3]);
    });

    test("reads back what was appended, equal and in the same order", async () => {
      const { store, again } = await setUp();
      const log = await open(store);
      const written: LoggedEvent[] = [];
      for (let round = 0; round < 20; round += 1) {
        written.push(...(await log.append([notice(`${round}a`), itemDraft(`{"n":${round}}`)])));
      }
      const reader = await open((again ?? (() => store))(), "read");
      expect(reader.events).toEqual(written);
      expect(log.events).toEqual(written);
    });

    test("keeps the call order of appends that were not awaited", async () => {
      const { store } = await setUp();
      const log = await open(store);
      await Promise.all(["a", "b", "c", "d"].map((message) => log.append([notice(message)])));
      expect(messagesOf(log.events)).toEqual(["a", "b", "c", "d"]);
    });

    test("refuses a second writer and names the holder; closing frees the session", async () => {
      const { store, again } = await setUp();
      const log = await open(store);
      await log.append([notice("a")]);
      const refused = await (again ?? (() => store))()
        .open("s1", { mode: "write" })
        .catch((error: unknown) => error);
      expect(refused).toMatchObject({ code: "session_locked", details: { holder: "this process" } });
      await log.close();
      const next = await open(store);
      await next.append([notice("b")]);
      expect(messagesOf(next.events)).toEqual(["a", "b"]);
    });

    test("keeps the sessions of one store independent of each other", async () => {
      const { store } = await setUp();
      const one = await open(store, "write", "one");
      const two = await open(store, "write", "two");
      await one.append([notice("in one")]);
      await two.append([notice("in two")]);
      expect([messagesOf(one.events), messagesOf(two.events)]).toEqual([["in one"], ["in two"]]);
    });

    test("accepts any number of readers while a writer holds the session", async () => {
      const { store } = await setUp();
      const log = await open(store);
      await log.append([notice("a")]);
      const readers = await Promise.all([1, 2, 3].map(() => open(store, "read")));
      expect(readers.map(({ events }) => messagesOf(events))).toEqual([["a"], ["a"], ["a"]]);
    });

    test("shows a reader each newly written event once, on refresh", async () => {
      const { store, again } = await setUp();
      const log = await open(store);
      await log.append([notice("a")]);
      const reader = await open((again ?? (() => store))(), "read");
      expect(await reader.refresh()).toEqual([]);
      await log.append([notice("b"), notice("c")]);
      expect(messagesOf(await reader.refresh())).toEqual(["b", "c"]);
      expect(await reader.refresh()).toEqual([]);
      await log.append([notice("d")]);
      expect(messagesOf(await reader.refresh())).toEqual(["d"]);
      expect(reader.events).toEqual(log.events);
    });

    test("gives a writer nothing on refresh: its own events arrive once", async () => {
      const { store } = await setUp();
      const log = await open(store);
      await log.append([notice("a")]);
      expect(await log.refresh()).toEqual([]);
      expect(messagesOf(log.events)).toEqual(["a"]);
    });

    test("refuses a reader's append with an error", async () => {
      const { store } = await setUp();
      const log = await open(store);
      await log.append([notice("a")]);
      const reader = await open(store, "read");
      expect(await codeOf(reader.append([notice("b")]))).toBe("log_read_only");
      expect(messagesOf(log.events)).toEqual(["a"]);
    });

    test("refuses appends to a closed log; closing twice is harmless", async () => {
      const { store } = await setUp();
      const log = await open(store);
      await log.append([notice("a")]);
      await log.close();
      await log.close();
      expect(await codeOf(log.append([notice("b")]))).toBe("log_closed");
      const reader = await open(store, "read");
      expect(messagesOf(reader.events)).toEqual(["a"]);
    });

    test("does not free a session for others when a log that was already closed is closed again", async () => {
      const { store } = await setUp();
      const first = await open(store);
      await first.append([notice("a")]);
      await first.close();
      await open(store);
      await first.close();
      expect(await codeOf(store.open("s1", { mode: "write" }))).toBe("session_locked");
    });

    test("creates a session with its first append, not before", async () => {
      const { store } = await setUp();
      const log = await open(store);
      const listed = async (): Promise<readonly string[]> => {
        const ids: string[] = [];
        for await (const { id } of store.list()) ids.push(id);
        return ids;
      };
      expect([await store.exists("s1"), await listed()]).toEqual([false, []]);
      await log.append([notice("a")]);
      expect([await store.exists("s1"), await listed()]).toEqual([true, ["s1"]]);
    });

    test("refuses to read a missing session", async () => {
      const { store } = await setUp();
      expect(await codeOf(store.open("nobody", { mode: "read" }))).toBe("session_not_found");
      expect(await store.exists("nobody")).toBe(false);
    });

    test("lists every session with its size and time", async () => {
      const { store } = await setUp();
      const before = Date.now() - 5_000;
      for (const id of ["b", "a", "C_1-x"]) {
        const log = await open(store, "write", id);
        await log.append([notice(id)]);
        await log.close();
      }
      const listed: Awaited<ReturnType<typeof collect>> = await collect(store);
      expect(listed.map(({ id }) => id).toSorted()).toEqual(["C_1-x", "a", "b"]);
      for (const { modifiedAt, bytes } of listed) {
        expect(modifiedAt).toBeGreaterThan(before);
        expect(bytes).toBeGreaterThan(50);
      }
    });

    test("removes a session with its blobs and its scratch journal", async () => {
      const { store } = await setUp();
      const log = await open(store);
      await log.append([notice("a")]);
      const blob = await log.putBlob(Buffer.from("blob"));
      log.scratch.write(["scratch"]);
      await log.close();
      await store.remove("s1");
      expect([await store.exists("s1"), await collect(store)]).toEqual([false, []]);
      const fresh = await open(store);
      expect([fresh.events, await fresh.getBlob(blob), await fresh.scratch.rows()]).toEqual([
        [],
        undefined,
        [],
      ]);
    });

    test("removes only the named session, not one whose id merely starts with that name", async () => {
      const { store } = await setUp();
      for (const id of ["a", "ab", "a-b"]) {
        const log = await open(store, "write", id);
        await log.append([notice(id)]);
        await log.close();
      }
      await store.remove("a");
      expect((await collect(store)).map(({ id }) => id).toSorted()).toEqual(["a-b", "ab"]);
    });

    test("refuses to remove a session that is being written, or a missing one", async () => {
      const { store } = await setUp();
      const log = await open(store);
      await log.append([notice("a")]);
      expect(await codeOf(store.remove("s1"))).toBe("session_locked");
      expect(await store.exists("s1")).toBe(true);
      expect(await codeOf(store.remove("nobody"))).toBe("session_not_found");
    });

    test.each([
      "",
      ".",
      "..",
      "../x",
      "a/b",
      "a.b",
      "-a",
      "_a",
      "a b",
      "ä",
      "a\0b",
      "x".repeat(65),
      "a\n",
      "C:\\x",
    ])("rejects %j as an id in every method", async (id) => {
      const { store } = await setUp();
      expect(await codeOf(store.open(id, { mode: "write" }))).toBe("session_id_invalid");
      expect(await codeOf(store.open(id, { mode: "read" }))).toBe("session_id_invalid");
      expect(await codeOf(store.exists(id))).toBe("session_id_invalid");
      expect(await codeOf(store.remove(id))).toBe("session_id_invalid");
    });

    test.each(["a", "0", "A_-9", "x".repeat(64)])("accepts %j as an id", async (id) => {
      const { store } = await setUp();
      const log = await open(store, "write", id);
      await log.append([notice("a")]);
      expect(log.session).toBe(id);
      expect(await store.exists(id)).toBe(true);
    });

    test("names blobs by their SHA-256, keeps them over a reopening, and has none for unknown names", async () => {
      const { store } = await setUp();
      const log = await open(store);
      await log.append([notice("a")]);
      const bytes = Uint8Array.from([0, 255, 10, 13, 0]);
      const name = await log.putBlob(bytes);
      expect(name).toBe(await sha256(bytes));
      expect(await log.putBlob(Uint8Array.from(bytes))).toBe(name);
      bytes[0] = 9; // the caller's array is the caller's
      await log.close();
      const reader = await open(store, "read");
      expect([...((await reader.getBlob(name)) ?? [])]).toEqual([0, 255, 10, 13, 0]);
      expect(await reader.getBlob("0".repeat(64))).toBeUndefined();
      expect(await reader.getBlob("../s1.jsonl")).toBeUndefined();
    });

    test("keeps scratch rows until they are cleared, even for the next writer", async () => {
      const { store } = await setUp();
      const log = await open(store);
      await log.append([notice("a")]);
      expect(await log.scratch.rows()).toEqual([]);
      log.scratch.write([]);
      log.scratch.write(["1", '"zwei ü"']);
      log.scratch.write(["[3]"]);
      expect(await log.scratch.rows()).toEqual(["1", '"zwei ü"', "[3]"]);
      await log.close();
      const next = await open(store);
      next.scratch.write(["4"]);
      expect(await next.scratch.rows()).toEqual(["1", '"zwei ü"', "[3]", "4"]);
      next.scratch.clear();
      expect(await next.scratch.rows()).toEqual([]);
      next.scratch.write(["5"]);
      expect(await next.scratch.rows()).toEqual(["5"]);
    });

    test("resolves a durable append even if there is nothing to write", async () => {
      const { store } = await setUp();
      const log = await open(store);
      await log.append([], { durable: true });
      await log.append([notice("a")]);
      await log.append([], { durable: true });
      await log.append([], { durable: true });
      expect(messagesOf(log.events)).toEqual(["a"]);
    });

    test("creates an empty session on a durable append without events", async () => {
      const { store, again } = await setUp();
      const log = await open(store);
      await log.append([]);
      expect(await store.exists("s1")).toBe(false);
      await log.append([], { durable: true });
      const other = again?.() ?? store;
      expect(await other.exists("s1")).toBe(true);
      expect((await open(other, "read")).events).toEqual([]);
      expect((await collect(other)).map(({ id }) => id)).toEqual(["s1"]);
      expect(await codeOf(store.create("s1", { events: [notice("a")], blobs: new Map() }))).toMatch(
        /session_exists|session_locked/,
      );
      await log.append([notice("a")]);
      await log.close();
      await other.remove("s1");
      expect(await store.exists("s1")).toBe(false);
    });

    test("keeps waiting turns in order, with their cancels, until they are removed", async () => {
      const { store, again } = await setUp();
      const log = await open(store);
      await log.append([notice("a")]);
      const waiting = store.waiting("s1");
      expect([await waiting.list(), await waiting.recover()]).toEqual([[], { turns: [] }]);
      const request = { kind: "send", input: [{ type: "text", text: "ü😀\u2028" }], n: null };
      for (const turn of ["b", "a", "c"]) await waiting.add(turn, { ...request, turn });
      await waiting.cancel("a");
      await waiting.cancel("never added");
      await waiting.remove("b");
      await waiting.remove("never added");
      const left = [
        { turn: "a", request: { ...request, turn: "a" }, cancelled: true },
        { turn: "c", request: { ...request, turn: "c" }, cancelled: false },
      ];
      const other = again?.() ?? store;
      expect(await other.waiting("s1").list()).toEqual(left);
      expect(await idsOf(other.sessionsWithWaiting())).toEqual(["s1"]);
      expect(await other.waiting("s1").recover()).toEqual({ turns: left });
      expect(await waiting.list()).toEqual(left);
      for (const { turn } of left) await waiting.remove(turn);
      expect([await other.waiting("s1").list(), await idsOf(other.sessionsWithWaiting())]).toEqual([[], []]);
      await waiting.add("d", request);
      await log.close();
      await store.remove("s1");
      expect(await other.waiting("s1").list()).toEqual([]);
    });

    test("adds and removes waiting turns in the order of the calls", async () => {
      const { store } = await setUp();
      await (await open(store)).append([notice("a")]);
      const waiting = store.waiting("s1");
      const work: Promise<void>[] = [];
      for (let n = 0; n < 50; n += 1) {
        work.push(waiting.add(`t${n}`, { n }));
        if (n % 2 === 0) work.push(waiting.remove(`t${n}`));
      }
      await Promise.all(work);
      expect((await store.waiting("s1").list()).map(({ turn }) => turn)).toEqual(
        Array.from({ length: 25 }, (_, n) => `t${2 * n + 1}`),
      );
    });

    test("lets a writer act until it is closed, and a reader never; neither is lost, and no store was rolled back", async () => {
      const { store } = await setUp();
      const log = await open(store);
      await log.assertWriter();
      await log.append([notice("a")], { durable: true, turn: "begin" });
      await log.assertWriter();
      const reader = await open(store, "read");
      expect(await codeOf(reader.assertWriter())).toBe("log_read_only");
      await log.close();
      expect(await codeOf(log.assertWriter())).toBe("log_closed");
      expect([log, reader].map(({ lost, restored }) => [lost.aborted, restored])).toEqual([
        [false, false],
        [false, false],
      ]);
    });

    test("gives the exact lines of the events to writer and reader, even while the log grows", async () => {
      const { store, again } = await setUp();
      const log = await open(store);
      expect(await log.lines()).toEqual(Buffer.alloc(0));
      await log.append([notice("a"), itemDraft('{"n":12345678901234567890123,"a":1,"a":2}'), notice("ü😀")]);
      const reader = await open(again?.() ?? store, "read");
      await log.append([notice("later")]);
      const [whole, before] = [await log.lines(), await reader.lines()];
      expect(before).toEqual(whole.subarray(0, before.length));
      expect(scanLines(before, { offset: 0, firstSeq: 0, lowestEpoch: 0 }).events).toEqual(reader.events);
      expect(messagesOf(scanLines(whole, { offset: 0, firstSeq: 0, lowestEpoch: 0 }).events)).toEqual(
        messagesOf(log.events),
      );
      await reader.refresh();
      expect(await reader.lines()).toEqual(whole);
    });

    test("gives a waiting opener the session when its writer closes, and refuses it when the time is up", async () => {
      const { store, again } = await setUp();
      const first = await open(store);
      const other = again?.() ?? store;
      expect(await codeOf(other.open("s1", { mode: "write", wait: 60 }))).toBe("session_locked");
      const waiting = other.open("s1", { mode: "write", wait: 60_000 });
      await first.append([notice("a")]);
      await first.close();
      const second = await waiting;
      logs.push(second);
      await second.append([notice("b")]);
      expect(messagesOf(second.events)).toEqual(["a", "b"]);
    });

    test("opens nothing once the store is closed; open logs stay open", async () => {
      const { store } = await setUp();
      const log = await open(store);
      await store.close();
      await store.close();
      await log.append([notice("a")]);
      expect(await codeOf(store.open("s1", { mode: "read" }))).toBe("store_closed");
      expect(await codeOf(store.open("s2", { mode: "write" }))).toBe("store_closed");
    });

    test.each([
      ["big integers", '{"n":12345678901234567890123,"f":1.10,"e":1E5,"z":-0}'],
      ["duplicate keys", '{"a":1,"a":{"b":2,"b":3},"a":"last"}'],
      ["escapes exactly as written", String.raw`{"s":"\u0000\u0061\/\ud83d\ude00\u2028","t":"a\"b\\"}`],
      ["escaped line separators", String.raw`{"s":"x\u2028y\u2029z"}`],
      ["odd spaces", '{ "a" : [ 1 ,2 ],\t"b":null }'],
      ["lone surrogates, escaped", String.raw`{"s":"\ud800"}`],
      [
        "an item that looks like an end of line",
        String.raw`{"s":",\"sum\":\"00000000\"}","item":{"item":1}}`,
      ],
      ["text beyond the BMP", '{"s":"😀 ü \u0000"}'.replace("\u0000", "")],
      ["not an object", '"just text"'],
    ])("returns an item byte for byte: %s", async (_what, item) => {
      const { store } = await setUp();
      const log = await open(store);
      const late: EventDraft = {
        type: "response_end",
        turn: "tn_1",
        response: "rsp_1",
        status: "completed",
        durationMs: 1,
        late: [
          { outputIndex: 0, item: raw(item) },
          { outputIndex: 7, item: raw(item) },
        ],
      };
      const written = await log.append([itemDraft(item), late]);
      await log.close();
      const reader = await open(store, "read");
      expect(reader.events).toEqual(written);
      const [first, second] = reader.events as unknown as readonly [
        { item?: string },
        { late?: { item: string }[] },
      ];
      expect(first.item).toBe(item);
      expect(second.late?.map((one) => one.item)).toEqual([item, item]);
    });

    test("keeps the meaning of text with line separators and control characters over a reopening", async () => {
      const { store } = await setUp();
      const log = await open(store);
      const message = 'a\u2028b\u2029c\n\r\t\u0000\u001b\ufeff"\\ 😀';
      await log.append([notice(message)]);
      await log.close();
      expect(messagesOf((await open(store, "read")).events)).toEqual([message]);
    });

    test("creates a whole session with its events and blobs, which can continue and cannot be created twice", async () => {
      const { store, again } = await setUp();
      const bytes = Buffer.from("picture");
      const name = await sha256(bytes);
      const blobs = new Map([[name, bytes]]);
      const events = [{ ...notice("a"), id: "ev_a", at: "2026-01-01T00:00:00.000Z" }, notice("b")];
      await store.create("s1", { events, blobs });
      const log = await open(again?.() ?? store);
      expect(log.events).toMatchObject([
        { seq: 0, epoch: 1, id: "ev_a", at: "2026-01-01T00:00:00.000Z", message: "a" },
        { seq: 1, epoch: 1, message: "b" },
      ]);
      expect(Buffer.from((await log.getBlob(name)) ?? []).equals(bytes)).toBe(true);
      expect(await codeOf(store.create("s1", { events, blobs }))).toMatch(/session_exists|session_locked/);
      await log.append([notice("c")]);
      await log.close();
      expect(await codeOf(store.create("s1", { events, blobs }))).toBe("session_exists");
      expect(await codeOf(store.create("../s", { events, blobs }))).toBe("session_id_invalid");
      expect(messagesOf((await open(store, "read")).events)).toEqual(["a", "b", "c"]);
      expect((await collect(store)).map(({ id }) => id)).toEqual(["s1"]);
    });

    test("returns a payload of 5 MB exactly", async () => {
      const { store } = await setUp();
      const log = await open(store);
      const item = `{"encrypted_content":"${"gAAAAABo+/=".repeat(480_000)}"}`;
      expect(item.length).toBeGreaterThan(5 * 1024 * 1024);
      await log.append([notice("before"), itemDraft(item), notice("after")]);
      await log.close();
      const [, event] = (await open(store, "read")).events;
      expect(event !== undefined && "item" in event && event.item === item).toBe(true);
    });

    test("passes an event of an unknown type through, keeps it exactly, and numbers it like any other", async () => {
      const { store } = await setUp();
      const log = await open(store);
      await log.append([
        notice("a"),
        newer({ type: "moon_phase", turn: "tn_1", phase: "full", sum: undefined, deep: { n: [1, 2] } }),
        notice("b"),
      ]);
      await log.close();
      const next = await open(store);
      expect(next.events.map(({ seq, type }) => [seq, type])).toEqual([
        [0, "notice"],
        [1, "unknown"],
        [2, "notice"],
      ]);
      const unknown = next.events[1];
      expect(unknown).toMatchObject({ unknownType: "moon_phase", turn: "tn_1", epoch: 1 });
      const text = unknown?.type === "unknown" ? unknown.raw : "";
      expect(JSON.parse(text)).toMatchObject({ type: "moon_phase", phase: "full", deep: { n: [1, 2] } });
      // Nothing is rewritten: writing more leaves the line unchanged.
      await next.append([notice("c")]);
      await next.close();
      const reader = await open(store, "read");
      expect(reader.events[1]).toEqual(unknown);
      expect(messagesOf(reader.events)).toEqual(["a", "unknown", "b", "c"]);
    });
  });
  describeListContract(kind, create);
}

async function collect(store: Store): Promise<{ id: string; modifiedAt: number; bytes: number }[]> {
  const found: { id: string; modifiedAt: number; bytes: number }[] = [];
  for await (const one of store.list()) found.push({ ...one });
  return found;
}

async function idsOf(ids: AsyncIterable<string>): Promise<readonly string[]> {
  const all: string[] = [];
  for await (const id of ids) all.push(id);
  return all;
}

async function sha256(bytes: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", Uint8Array.from(bytes));
  return Buffer.from(digest).toString("hex");
}
