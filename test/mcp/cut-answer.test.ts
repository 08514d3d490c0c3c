/**
 * The answer of a server at an address, cut at every point. Each cut is one turn of a session against a strict emulator.
 * The client package says nothing about most of these cuts, so a call that waits for it would wait until its time is up.
 */

import { describe, expect, test } from "vitest";

import type { SessionEvent } from "../../src/index.ts";
import { call, ofType, say, type ScriptStep } from "../contracts/session-fixture.ts";
import { runs, Tally, timeoutFor } from "../support/runs.ts";
import { callTool, knownEras, refusals, source, talk } from "./fixture.ts";
import { EFFECT, type HttpCall, httpServer, text } from "./http-server.ts";

interface Cut {
  /** Whether the server does its work before the cut. */
  readonly runs: boolean;
  readonly status: "ok" | "outcome_unknown" | "error";
  readonly said: string;
  readonly cut: (call: HttpCall) => unknown;
}

const SSE = { "content-type": "text/event-stream" };
const JSON_TYPE = { "content-type": "application/json" };
const LOST = "It was not sent again.";
const event = (data: string, id?: string): string =>
  `${id === undefined ? "" : `id: ${id}\n`}event: message\ndata: ${data}\n\n`;
const PROGRESS = JSON.stringify({
  jsonrpc: "2.0",
  method: "notifications/progress",
  params: { progressToken: 1, progress: 1 },
});
const whole = ({ answer }: HttpCall): string => answer(text("done"));

/** Writes, and destroys the connection when the bytes are out. */
function cutAfter({ response, socket }: HttpCall, bytes: string): void {
  response.write(bytes, () => socket.destroy());
}

const CUTS: Readonly<Record<string, Cut>> = {
  "before the headers, before the effect": lost(({ socket }) => socket.destroy(), false),
  "before the headers": lost(({ socket }) => socket.destroy()),
  "a reset": lost(({ socket }) => socket.resetAndDestroy()),
  "after the headers of a stream": lost((one) => {
    one.response.writeHead(200, SSE).flushHeaders();
    cutAfter(one, ": hello\n\n");
  }),
  "after the headers of a JSON answer": lost((one) => {
    one.response.writeHead(200, { ...JSON_TYPE, "content-length": "500" });
    cutAfter(one, "{");
  }),
  "in the middle of a JSON answer": lost((one) => {
    one.response.writeHead(200, { ...JSON_TYPE, "content-length": String(whole(one).length) });
    cutAfter(one, whole(one).slice(0, -10));
  }),
  "in the middle of an event": lost((one) => {
    one.response.writeHead(200, SSE);
    cutAfter(one, event(whole(one)).slice(0, -12));
  }),
  "after progress": lost((one) => {
    one.response.writeHead(200, SSE);
    cutAfter(one, event(PROGRESS));
  }),
  "a clean end without an answer": lost(({ response }) => response.writeHead(200, SSE).end()),
  "a clean end after progress": lost(({ response }) => response.writeHead(200, SSE).end(event(PROGRESS))),
  "an empty JSON answer": lost(({ response }) => response.writeHead(200, JSON_TYPE).end()),
  "JSON that is none": lost(({ response }) => response.writeHead(200, JSON_TYPE).end("<html>")),
  "another content type": lost(({ response }) =>
    response.writeHead(200, { "content-type": "text/html" }).end("<html>"),
  ),
  "an answer with another id, as JSON": lost((one) =>
    one.response.writeHead(200, JSON_TYPE).end(JSON.stringify({ ...JSON.parse(whole(one)), id: 9_999_999 })),
  ),
  "an answer with another id, as a stream": lost((one) =>
    one.response.writeHead(200, SSE).end(event(JSON.stringify({ ...JSON.parse(whole(one)), id: 9_999_999 }))),
  ),
  "a result that is no object": lost((one) =>
    one.response
      .writeHead(200, JSON_TYPE)
      .end(JSON.stringify({ jsonrpc: "2.0", id: one.id, result: "done" })),
  ),
  "an event with an id, whose stream cannot be opened again": lost((one) => {
    one.response.writeHead(200, SSE);
    cutAfter(one, event(PROGRESS, "7"));
  }),
  "202 without an answer": lost(({ response }) => response.writeHead(202).end()),
  "204 without an answer": lost(({ response }) => response.writeHead(204).end()),
  "500": lost(({ response }) => response.writeHead(500).end("oops")),
  "503": lost(({ response }) => response.writeHead(503, { "retry-after": "1" }).end()),
  "400": refused(({ response }) => response.writeHead(400).end("bad")),
  "a redirect to another origin": refused(({ response }) =>
    response.writeHead(307, { location: "http://127.0.0.1:9/elsewhere" }).end(),
  ),
  "nothing: the whole answer, then a reset": {
    runs: true,
    status: "ok",
    said: "done",
    cut: (one) => {
      one.response.writeHead(200, SSE);
      one.response.write(event(whole(one)), () => one.socket.resetAndDestroy());
    },
  },
  "nothing: the answer twice": {
    runs: true,
    status: "ok",
    said: "done",
    cut: (one) => one.response.writeHead(200, SSE).end(event(whole(one)).repeat(2)),
  },
};

function lost(cut: Cut["cut"], hasRun = true): Cut {
  return { runs: hasRun, status: "outcome_unknown", said: LOST, cut };
}

function refused(cut: Cut["cut"]): Cut {
  return { runs: false, status: "error", said: "not executed", cut };
}

const QUICK = 4;
const ROUNDS = runs(QUICK).numRuns;

describe.each(["legacy", "modern"] as const)("the answer of a server of the %s era", (era) => {
  test(
    "that is cut at any point leaves the outcome unknown at once, and the call is not sent again",
    { timeout: timeoutFor(QUICK) },
    async () => {
      const executed: number[] = [];
      const sent: number[] = [];
      const server = await httpServer({
        modern: era === "modern",
        tools: [EFFECT],
        call: (one) => {
          const { id, phase } = one.input as { readonly id: number; readonly phase: string };
          sent.push(id);
          const cut = CUTS[phase];
          if (cut?.runs !== false) executed.push(id);
          if (cut === undefined) one.response.writeHead(200, JSON_TYPE).end(whole(one));
          else cut.cut(one);
        },
      });
      const tools = source({ web: server }, { eras: knownEras(era) });
      const tally = new Tally();
      for (let round = 0; round < ROUNDS; round += 1) {
        const cuts = Object.entries(CUTS);
        const first = round * 1000;
        const script = cuts.flatMap(([phase], index): ScriptStep[] => [
          { output: [call("mcp__web__effect", { id: first + index * 2, phase })] },
          { output: [call("mcp__web__effect", { id: first + index * 2 + 1, phase: "none" })] },
          { output: [say("done")] },
        ]);
        const { session, emulator } = await talk(script, [tools]);
        for (const [index, [name, expected]] of cuts.entries()) {
          const id = first + index * 2;
          const events: SessionEvent[] = [];
          const turn = session.send(name);
          for await (const one of turn) events.push(one);
          const [was, next] = ofType(events, "tool_result");
          const times = sent.filter((one) => one === id).length;
          const done = executed.filter((one) => one === id).length;
          expect([name, was?.status, done, times], was?.text).toEqual([
            name,
            expected.status,
            expected.runs ? 1 : 0,
            1,
          ]);
          expect([name, was?.text]).toEqual([name, expect.stringContaining(expected.said)]);
          expect(was?.text).not.toContain("invalid_union");
          expect([name, next?.status, executed.filter((one) => one === id + 1).length]).toEqual([
            name,
            "ok",
            1,
          ]);
          // Far above what it takes; a call that waits for its time limit takes minutes.
          expect(was?.durationMs, name).toBeLessThan(10_000);
          tally.add("cuts");
        }
        expect(refusals(emulator)).toEqual([]);
        await session.close();
      }
      tally.print(`cut answers of the ${era} era`);
    },
  );
});

test("a server that wants the client back in a month cannot keep a call waiting", async () => {
  const server = await httpServer({
    modern: false,
    tools: [EFFECT],
    call: ({ response }) => response.writeHead(200, SSE).end(`retry: 2147483647\n${event(PROGRESS, "1")}`),
  });
  const tools = source({ web: server }, { eras: knownEras("legacy") });
  await tools.ready();
  const outcome = await callTool(tools, "mcp__web__effect", { id: 1, phase: "none" });
  expect(outcome.status).toBe("outcome_unknown");
});
