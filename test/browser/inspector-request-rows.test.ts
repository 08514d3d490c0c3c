/** The table of a request: item → sent as → why, what is new and gone, and what was not sent. */

import { expect, test } from "vitest";

import type { LoggedEvent } from "../../src/base/events/index.ts";
import { blocksOf } from "../../src/interface/fragments/index.ts";
import { blockIndex } from "../../src/interface/web/inspector/event-index.ts";
import {
  changeWords,
  type RequestContent,
  requestRows,
  type RequestRow,
} from "../../src/interface/web/inspector/request-rows.ts";
import { sealedBytes, withSealsShort } from "../../src/interface/web/inspector/sealed.ts";
import { factsOf } from "../../src/runtime/facts/index.ts";
import { explain, planOf } from "../../src/runtime/fold/index.ts";
import { HOME, LogBuilder, settingsWith } from "../contracts/log-builder.ts";

const SYSTEM = {
  system: "Be brief.",
  tools: [{ name: "look", description: "", parameters: {}, strict: false }],
};

function contentOf(events: readonly LoggedEvent[], change = {}): RequestContent {
  const settings = settingsWith({ ...SYSTEM, ...change });
  return { settings, decisions: explain(events, planOf(events, settings)?.entries ?? []) };
}

function rowsOf(
  events: readonly LoggedEvent[],
  earlier?: RequestContent,
  change = {},
): readonly RequestRow[] {
  return requestRows({
    ...contentOf(events, change),
    events,
    requests: factsOf(events).requests,
    blocks: blockIndex(blocksOf(events, { writerAlive: false })),
    earlier,
  });
}

const lines = (rows: readonly RequestRow[]): readonly string[] =>
  rows.map(({ words, sentAs, why, change, sent }) => {
    const { label, nested } = words();
    const mark = change === "new" ? "+" : change === "gone" ? "−" : sent ? " " : "⊘";
    return `${mark} ${nested ? "  " : ""}${label} | ${sentAs} | ${why}`;
  });

const read = { type: "call", callId: "c1", name: "read_file", text: '{"path":"a/b/tsconfig.json"}' } as const;

function session(): LogBuilder {
  return new LogBuilder()
    .settings(SYSTEM)
    .user("first words")
    .respond({
      items: [
        { type: "reasoning", payload: "x".repeat(1400) },
        { type: "reasoning", payload: "y".repeat(600) },
        read,
      ],
    })
    .result("c1", "one\ntwo")
    .respond({ step: 2, status: "cut", items: [{ type: "reasoning" }] })
    .respond({ step: 2, attempt: 2, items: [{ type: "message", text: "An answer" }] })
    .endTurn();
}

test("rows are in the order of the request, a run of thoughts is one row, and what was not sent stands where it happened", () => {
  const rows = rowsOf(session().user("more").events);
  expect(lines(rows)).toEqual([
    "  Instructions | instructions | always first",
    "  Tools | definitions | in every request",
    "  You | user message | your words",
    "  Thought for 2 ms | reasoning | same model and endpoint",
    "  Read b/tsconfig.json | call | belongs to its thought",
    "    Result, 2 lines | call output | answers the call",
    expect.stringMatching(/^⊘ Thought for 1 ms \| not sent \| the stream was cut/),
    "  Answer | assistant message | of attempt 2, whole",
    "  You | user message | your words",
  ]);
  expect(rows[3]?.words()).toMatchObject({ sealed: 2000, wire: "reasoning" });
  expect(rows[5]?.words().wire).toBe("function_call_output");
  expect([rows[3]?.block, rows[5]?.block]).toEqual(["rsp_1/0", "rsp_1/2"]);
});

test("rows say what is new and what is gone since an earlier request", () => {
  const log = session();
  const before = contentOf(log.events.slice(0, 3));
  expect(changeWords(rowsOf(log.user("more").events, before))).toBe("5 new, 0 gone");
  const later = contentOf(log.events);
  const undone = rowsOf(log.branch(1).user("otherwise").events, later);
  expect(changeWords(undone)).toBe("1 new, 5 gone");
  expect(lines(undone).filter((line) => line.startsWith("−"))[0]).toBe(
    "− Thought for 2 ms | not sent | on an abandoned branch",
  );
  expect(undone.filter(({ wholesale }) => wholesale === true)).toHaveLength(6);
});

test("what goes in another form is gone in the one and new in the other", () => {
  const { events } = session();
  const rows = rowsOf(events, contentOf(events), { target: { ...HOME, model: "other" } });
  expect(lines(rows).filter((line) => line.includes("Answer"))).toEqual([
    "− Answer | assistant message | sent in another form now",
    "+ Answer | assistant message | made by gpt-test",
  ]);
});

test("a call without a result is sent with one that says so, and a result apart from its call names it", () => {
  const log = new LogBuilder().settings(SYSTEM).user("go");
  log.respond({ items: [read, { ...read, callId: "c2" }] }).result("c1");
  const rows = rowsOf(log.events);
  expect(lines(rows).slice(3)).toEqual([
    "  Read b/tsconfig.json | call | its own response",
    "  Read b/tsconfig.json | call | its own response",
    "    Result, none | call output | says that the call has no result",
    "    Result, 1 line | call output | answers the call",
  ]);
  expect(rows.at(-1)?.words().more).toBe("of Read b/tsconfig.json");
});

test("payloads are counted and shortened, never shown", () => {
  const secret = "s".repeat(1200);
  const item = { type: "reasoning", encrypted_content: secret, summary: [{ text: "short" }] };
  expect(sealedBytes(JSON.stringify(item))).toBe(1200);
  expect(withSealsShort({ input: [item], image: { media_type: "image/png", data: secret } })).toEqual({
    input: [{ ...item, encrypted_content: "1.2 KB sealed" }],
    image: { media_type: "image/png", data: "1.2 KB of data" },
  });
});
