/**
 * A front end cannot tell a remote session from a local one: each scenario runs on both, and the observations must
 * match.
 */

import { expect, test } from "vitest";

import { diffRequests } from "../../src/base/api/index.ts";
import { type ElicitationAnswer, toLine } from "../../src/base/events/index.ts";
import type { LoggedEvent, SessionEvent, SessionHandle, Turn } from "../../src/index.ts";
import { isEphemeral } from "../../src/index.ts";
import { askingTool, form } from "../contracts/elicit-fixture.ts";
import { afterTest } from "../contracts/file-fixture.ts";
import { anyTool, call, gate, say, think } from "../contracts/session-fixture.ts";
import { comparable, spoken } from "./comparable.ts";
import { scriptedAgent, served, type ServedOptions } from "./server-fixture.ts";

type Play = (handle: SessionHandle) => Promise<unknown>;

interface Scenario {
  readonly name: string;
  readonly options: () => ServedOptions;
  readonly play: Play;
}

const all = async <T>(events: AsyncIterable<T>): Promise<readonly T[]> => {
  const list: T[] = [];
  for await (const event of events) list.push(event);
  return list;
};

/** Plays the turn. Returns its events and result. */
const told = async (turn: Turn): Promise<unknown> => {
  const events = await all<SessionEvent>(turn);
  const logged = events.filter((event) => !isEphemeral(event));
  return { logged: comparable(logged), spoken: spoken(events), result: comparable([await turn.result()]) };
};

/** The handle's description of itself, minus what differs between two runs. */
const looks = (handle: SessionHandle): unknown => {
  const { title, usage, lastSeq, interrupted, access, writer, connection, model } = handle;
  return {
    title,
    usage,
    lastSeq,
    interrupted,
    access,
    writer,
    connection,
    model: model.label,
    effort: model.settings.effort,
  };
};

const history = async (handle: SessionHandle, path: "all" | "active" = "all"): Promise<readonly unknown[]> =>
  comparable(await all<LoggedEvent>(handle.events({ path })));

/** A local session throws programmer errors and a remote one rejects with them; the code is the same. */
const codeOf = async (work: () => unknown): Promise<unknown> => {
  try {
    const made = work() as Partial<Turn> | Promise<unknown>;
    await ("result" in made && made.result !== undefined ? made.result() : made);
    return "no error";
  } catch (error) {
    return (error as { readonly code?: unknown }).code;
  }
};

const seqOf = async (handle: SessionHandle, type: string, nth = 0): Promise<number> =>
  (await all(handle.events())).filter((event) => event.type === type)[nth]?.seq ?? -1;

const resultsOnPath = async (handle: SessionHandle): Promise<number> =>
  (await all(handle.events({ path: "active" }))).filter((event) => event.type === "tool_result").length;

const plain = (): ServedOptions => ({
  script: [
    { output: [think("Greeting"), say("Hello yourself")] },
    { output: [think("More"), say("Again")] },
    { output: [say("Third")] },
    { output: [say("Fourth")] },
  ],
});

const asking = (): ServedOptions => ({
  script: [{ output: [call("write", { a: 1 })] }, { output: [say("done")] }],
  tools: [anyTool("write", () => "written", { access: "write" })],
  permissions: "ask",
});

const failing = (): ServedOptions => ({
  script: [
    { output: [call("write", { a: 1 })] },
    { output: [say("never seen")], faults: ["http=400,code:odd_thing,message:Something odd."] },
    { output: [say("done")] },
    { output: [say("done without it")] },
  ],
  tools: [anyTool("write", () => "written")],
  permissions: "auto",
});

const SCENARIOS: readonly Scenario[] = [
  {
    name: "a turn with thoughts and an answer",
    options: plain,
    play: async (handle) => {
      const before = looks(handle);
      const turn = handle.send("Hello");
      return [before, await told(turn), await turn.text(), looks(handle), await history(handle)];
    },
  },
  {
    name: "the same turn read twice, and after its end",
    options: plain,
    play: async (handle) => {
      const turn = handle.send("Hello");
      const logged = async (): Promise<unknown> =>
        comparable((await all(turn)).filter((one) => !isEphemeral(one)));
      const [a, b] = await Promise.all([logged(), logged()]);
      expect(a).toEqual(b);
      expect(await logged()).toEqual(a);
      return a;
    },
  },
  {
    name: "a turn as text and as a response",
    options: () => ({
      script: [{ output: [say("I look."), call("look")] }, { output: [say("It is sunny.")] }],
      tools: [anyTool("look", () => "sun", { access: "read" })],
    }),
    play: async (handle) => {
      const turn = handle.send("Hello");
      const response = turn.toResponse({ headers: { "access-control-allow-origin": "https://a.example" } });
      const text = await all(turn.textStream);
      expect(text.join("")).toBe("I look.\n\nIt is sunny.");
      const frames = (await response.text()).split("\n\n").filter((frame) => frame !== "");
      const logged = frames
        .filter((frame) => frame.startsWith("id: "))
        .map((frame) => JSON.parse(frame.slice(frame.indexOf("data: ") + 6)) as unknown);
      const events = (await all(turn)).filter((event) => !isEphemeral(event));
      expect(comparable(logged)).toEqual(comparable(events.map((event) => JSON.parse(toLine(event)))));
      const result = frames.at(-1) ?? "";
      expect(result.split("\n")[0]).toBe("event: result");
      expect(JSON.parse(result.slice(result.indexOf("data: ") + 6))).toMatchObject({
        status: "completed",
        text: "It is sunny.",
      });
      return [response.status, [...response.headers]];
    },
  },
  {
    name: "a client that stops reading a response",
    options: plain,
    play: async (handle) => {
      const turn = handle.send("Hello");
      await turn.toResponse().body?.cancel();
      return (await turn.result()).status;
    },
  },
  {
    name: "an allowed tool",
    options: asking,
    play: async (handle) => {
      const turn = handle.send("go");
      const watching = (async () => {
        for await (const event of turn)
          if (event.type === "permission_request") await handle.approve(event.requestId);
      })();
      const result = await turn.result();
      await watching;
      return [result.status, result.text, await history(handle)];
    },
  },
  {
    name: "a tool denied with a reason, and an answer that is too late",
    options: asking,
    play: async (handle) => {
      let id = "";
      const turn = handle.send("go");
      for await (const event of turn) {
        if (event.type !== "permission_request") continue;
        id = event.requestId;
        await handle.deny(id, "not today");
      }
      return [await codeOf(() => handle.approve(id)), await history(handle)];
    },
  },
  {
    name: "the question of a tool: answers that do not fit, one that does, and one that is too late",
    options: () => ({
      script: [{ output: [call("ask")] }, { output: [say("done")] }],
      tools: [askingTool(form())],
    }),
    play: async (handle) => {
      const codes: unknown[] = [];
      const turn = handle.send("go");
      for await (const event of turn) {
        if (event.type !== "elicitation_request") continue;
        const answers: readonly unknown[] = [
          undefined,
          {},
          { action: "yes" },
          { action: "accept", contents: {} },
          { action: "accept", content: [] },
          { action: "accept" },
          { action: "accept", content: { name: "x", count: 99 } },
          { action: "cancel", content: {} },
          { action: "accept", content: { name: "x" } },
          { action: "decline" },
        ];
        for (const answer of answers)
          codes.push(await codeOf(() => handle.answer(event.requestId, answer as ElicitationAnswer)));
      }
      expect(codes.at(-2)).toBe("no error");
      return [codes, (await turn.result()).text, await history(handle)];
    },
  },
  {
    name: "a turn cancelled while its tool runs, and the one after it",
    options: () => ({
      script: [{ output: [call("wait")] }, { output: [say("after")] }],
      tools: [
        anyTool(
          "wait",
          (_input, { signal }) =>
            new Promise((_, reject) => {
              signal.addEventListener("abort", () => reject(new Error("stopped")));
            }),
        ),
      ],
      limits: { toolGraceMs: 1000 },
    }),
    play: async (handle) => {
      const turn = handle.send("go");
      for await (const event of turn) if (event.type === "tool_start") await handle.cancel();
      const { status } = await turn.result();
      return [status, await told(handle.send("next")), await history(handle)];
    },
  },
  {
    name: "a signal that cancels its own turn; a waiting turn is cancelled without a trace",
    options: () => {
      const opened = gate();
      afterTest(() => opened.open());
      return {
        script: [{ output: [call("wait")] }, { output: [say("done")] }],
        tools: [
          anyTool("wait", (_input, { signal }) =>
            Promise.race([
              opened.promise,
              new Promise((resolve) => {
                signal.addEventListener("abort", () => resolve("stopped"));
              }),
            ]),
          ),
        ],
      };
    },
    play: async (handle) => {
      const stop = new AbortController();
      const first = handle.send("go", { signal: stop.signal });
      const second = handle.send("waits");
      const busy = handle.send("x", { whenBusy: "queue" });
      second.cancel();
      busy.cancel();
      const results = Promise.all([first.result(), second.result(), busy.result()]);
      for await (const event of first) if (event.type === "tool_start") stop.abort();
      return [
        (await results).map(({ status, text, steps }) => ({ status, text, steps })),
        await history(handle),
      ];
    },
  },
  {
    name: "going back: retry, edit, undo, truncate, checkout",
    options: plain,
    play: async (handle) => {
      await handle.send("one").result();
      const retried = await told(handle.retry());
      const edited = await told(handle.edit(await seqOf(handle, "user_message"), "one, better"));
      const before = await history(handle, "active");
      await handle.undo();
      const undone = await history(handle, "active");
      await handle.checkout({ to: await seqOf(handle, "turn_end") });
      await handle.keepLastTurns(1);
      return [retried, edited, before, undone, await history(handle), looks(handle)];
    },
  },
  {
    name: "a retry after a failure: from the finished steps, and from the message",
    options: failing,
    play: async (handle) => {
      const failed = await told(handle.send("go"));
      const kept = await told(handle.retry());
      const path = await history(handle, "active");
      expect(await resultsOnPath(handle)).toBe(1);
      const again = await told(handle.retry({ from: "message" }));
      expect(await resultsOnPath(handle)).toBe(0);
      return [failed, kept, path, again, await history(handle), looks(handle)];
    },
  },
  {
    name: "a fork, with its own id and from the middle",
    options: plain,
    play: async (handle) => {
      await handle.send("one").result();
      await handle.send("two").result();
      const child = await handle.fork({ id: "child", at: await seqOf(handle, "turn_end") });
      // Whether the host already holds it for writing is the host's business.
      const { title, usage, lastSeq, access } = child;
      const seen = [
        child.id,
        title,
        usage,
        lastSeq,
        access,
        await history(child),
        await told(child.send("three")),
      ];
      await child.close();
      return [
        seen,
        await codeOf(() => handle.fork({ id: "child" })),
        await codeOf(() => handle.fork({ at: 999 })),
      ];
    },
  },
  {
    name: "another model: what it would drop, for one turn, and from then on",
    options: plain,
    play: async (handle) => {
      await handle.send("one").result();
      const preview = await handle.previewSwitch("test/other-model");
      await handle.send("two", { model: "test/other-model", effort: "low" }).result();
      await handle.setModel("test/third-model:high");
      const then = looks(handle);
      await handle.send("three").result();
      const used = (await all(handle.events())).flatMap((event) =>
        event.type === "response_start" ? [event.origin.model] : [],
      );
      return [
        preview,
        then,
        used,
        await codeOf(() => handle.setModel("nobody/x")),
        (await handle.explain()).map(({ action, reason }) => [action, reason]),
      ];
    },
  },
  {
    name: "requests: the next one, past ones, what differs, and why",
    options: plain,
    play: async (handle) => {
      await handle.send("one").result();
      await handle.send("two").result();
      const [first, second] = [await handle.rebuild(1), await handle.rebuild(2)];
      const { sameItems, added, removed, changedFields } = diffRequests(first, second);
      const next = await handle.preview();
      expect(JSON.parse(next.body)).toMatchObject({ model: "emu-reasoner" });
      return [
        [first.proof, second.proof, sameItems, added.length, removed, changedFields],
        next.items.map(({ type, role }) => [type, role]),
        next.decisions,
        next.violations,
        (await handle.explain({ request: 1 })).length,
        await codeOf(() => handle.rebuild(9)),
        await codeOf(() => handle.explain({ request: 9 })),
      ];
    },
  },
  {
    name: "a title, and bytes next to the log",
    options: plain,
    play: async (handle) => {
      const data = Buffer.alloc(100_000, 7).toString("base64");
      await handle
        .send([
          { type: "text", text: "look" },
          { type: "image", mediaType: "image/png", data },
        ])
        .result();
      await handle.rename("  A better\nname ");
      const name = (await all(handle.events())).flatMap((event) =>
        event.type === "user_message"
          ? event.content.flatMap((part) => ("blob" in part ? [part.blob] : []))
          : [],
      )[0];
      const bytes = await handle.blob(name ?? "");
      return [
        looks(handle),
        name,
        bytes?.length,
        bytes?.[99_999],
        await handle.blob("0".repeat(64)),
        await handle.blob("../x"),
      ];
    },
  },
  {
    name: "an answer that must match a schema",
    options: () => ({ script: [{ output: [say('{"city":"Rome"}')] }] }),
    play: async (handle) =>
      (
        await handle
          .send("where?", {
            output: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
          })
          .result()
      ).output,
  },
  {
    name: "a turn that fails at the provider",
    options: () => ({ script: [{ output: [], faults: "400" }], limits: { maxRetries: 0 } }),
    play: async (handle) => {
      const turn = handle.send("x");
      return [await told(turn), await codeOf(() => turn.text()), looks(handle)];
    },
  },
  {
    name: "a summary of the conversation",
    options: plain,
    play: async (handle) => {
      await handle.send("one").result();
      await handle.send("two").result();
      await handle.compact({ keepTurns: 1 });
      return [await history(handle), looks(handle)];
    },
  },
  {
    name: "following from the start and from the middle",
    options: plain,
    play: async (handle) => {
      await handle.send("one").result();
      const upTo = async (after: number): Promise<unknown> => {
        const stop = new AbortController();
        const seen: SessionEvent[] = [];
        for await (const event of handle.follow({ after, signal: stop.signal })) {
          seen.push(event);
          if (event.type === "turn_end") stop.abort();
        }
        return comparable(seen);
      };
      return [await upTo(-1), await upTo(3)];
    },
  },
  {
    name: "bad input",
    options: plain,
    play: async (handle) => {
      const codes = [
        await codeOf(() => handle.send("")),
        await codeOf(() => handle.send([{ type: "audio" } as never])),
        await codeOf(() => handle.resume()),
        await codeOf(() => handle.retry()),
        await codeOf(() => handle.edit(0, "x")),
        await codeOf(() => handle.undo()),
        await codeOf(() => handle.rename(" ")),
        await codeOf(() => handle.keepLastTurns(0)),
        await codeOf(() => handle.truncateFrom(77)),
        await codeOf(() => handle.approve("pr_nothing")),
        await codeOf(() => handle.send("x", { turn: "not a turn" })),
      ];
      await handle.send("x", { turn: "tn_mine" }).result();
      return [codes, await history(handle)];
    },
  },
];

for (const { name, options, play } of SCENARIOS) {
  test(`local and remote are the same: ${name}`, async () => {
    const here = await scriptedAgent(options());
    const local = await here.agent.open({ id: "s1", store: here.store });
    afterTest(() => local.close());
    const there = await served(options());
    const remote = await there.remote.open({ id: "s1" });
    afterTest(() => remote.close());
    const [a, b] = [await play(local), await play(remote)];
    expect(b).toEqual(a);
    expect(there.problems).toEqual([]);
  });
}
