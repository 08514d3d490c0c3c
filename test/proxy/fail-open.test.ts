import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { frameOpen } from "../../src/base/files/index.ts";
import { ledgerStatus, readExchanges, startProxy } from "../../src/proxy/relay/index.ts";
import { randomFrom } from "../chaos/random.ts";
import { temporaryFolder } from "../contracts/file-fixture.ts";
import { type ChildPlan, startChildProxy } from "./support/child-plan.ts";
import { scenario, startReplay } from "./support/fail-open-scenario.ts";
import { ownStreams, type Recorded } from "./support/streams.ts";
import { TALKERS } from "./support/talk.ts";
import {
  answerBytes,
  ask,
  JSON_TYPE,
  openProxy,
  requestTo,
  startUpstream,
  type Upstream,
} from "./support/wire.ts";

interface World {
  readonly upstream: Upstream;
  readonly streams: readonly Recorded[];
  readonly plain: readonly Recorded[];
}

async function world(): Promise<World> {
  const [streams, plain] = [await ownStreams(true), await ownStreams(false)];
  return { upstream: await startReplay(streams, plain), streams, plain };
}

/** What a client or the provider sees differently than without the proxy. */
const differences = ({ upstream, streams, plain }: World, port: number): Promise<string | undefined> =>
  scenario(port, upstream, { streams, plain });

async function healthOf(port: number): Promise<unknown> {
  const { body } = await ask(port, requestTo(port, "/__throughline/health", { method: "GET" }));
  return JSON.parse(body.toString());
}

/** A folder with what one scenario leaves. */
async function soundLedger(given: World): Promise<string> {
  const folder = join(temporaryFolder(), "ledger");
  const proxy = await openProxy({ to: given.upstream.origin, ledger: folder });
  expect(await differences(given, proxy.port)).toBeUndefined();
  await proxy.close();
  return folder;
}

const segmentsOf = (folder: string): readonly string[] =>
  readdirSync(folder).flatMap((name) => (name.endsWith(".jsonl") ? [join(folder, name)] : []));

/** The talkers whose lost thought is put back. */
async function found({ upstream, streams }: World, port: number): Promise<readonly string[]> {
  const names: string[] = [];
  for (const talker of TALKERS) {
    const { text, thought } = talker.heard(
      streams.find(({ name }) => name === `${talker.name}, a text`)?.bytes.toString("utf8") ?? "",
      true,
    );
    const body = talker.body([{ user: "Grüße 🧠" }, { model: text }, { user: "and more" }], true);
    const got = await ask(
      port,
      requestTo(port, talker.path, { headers: [["authorization", "Bearer sk-a"]], body }),
    );
    expect(got.status).toBe(200);
    if (upstream.requests.at(-1)?.body.toString().includes(thought) === true) names.push(talker.name);
  }
  return names;
}

const ALL = TALKERS.map(({ name }) => name);

describe("a ledger folder that cannot be used changes nothing for the client, and the health says so", () => {
  const cases: Readonly<Record<string, (folder: string) => string>> = {
    "a file": (folder) => {
      writeFileSync(join(folder, "file"), "x");
      return join(folder, "file");
    },
    "below a file": (folder) => {
      writeFileSync(join(folder, "file"), "x");
      return join(folder, "file", "ledger");
    },
    "a name with a NUL": (folder) => join(folder, "a\0b"),
    "a name that is too long": (folder) => join(folder, "x".repeat(300)),
    "a folder whose secret is empty": (folder) => {
      writeFileSync(join(folder, "secret"), "");
      return folder;
    },
    "a folder whose secret is another text": (folder) => {
      writeFileSync(join(folder, "secret"), "not a secret\n");
      return folder;
    },
    "a folder whose secret is a folder": (folder) => {
      mkdirSync(join(folder, "secret"));
      return folder;
    },
    "a folder with a folder for a segment": (folder) => {
      mkdirSync(join(folder, "1-abc-0001.jsonl"));
      return folder;
    },
  };

  test.for(Object.entries(cases))("%s", async ([, prepare]) => {
    const given = await world();
    const proxy = await openProxy({ to: given.upstream.origin, ledger: prepare(temporaryFolder()) });
    expect(await differences(given, proxy.port)).toBeUndefined();
    expect([proxy.health, await healthOf(proxy.port), proxy.problems.length > 0]).toEqual([
      "degraded",
      { status: "degraded", mode: "repair" },
      true,
    ]);
    // It remembers in memory.
    expect(await found(given, proxy.port)).toEqual(ALL);
  });

  test("a folder that does not exist is made", async () => {
    const given = await world();
    const folder = join(temporaryFolder(), "a", "b", "c");
    const proxy = await openProxy({ to: given.upstream.origin, ledger: folder });
    expect([await differences(given, proxy.port), proxy.health]).toEqual([undefined, "ok"]);
  });
});

describe("a disk that fails changes nothing for the client, and does not end the proxy", () => {
  const cases: readonly (readonly [name: string, plan: Omit<ChildPlan, "options">, health: string])[] = [
    ["is full", { fail: { calls: ["write"], code: "ENOSPC" } }, "degraded"],
    ["is full and cannot close a file", { fail: { calls: ["write", "close"], code: "EIO" } }, "degraded"],
    ["is read-only", { fail: { calls: ["open", "mkdir"], code: "EROFS" } }, "degraded"],
    ["may not be written", { fail: { calls: ["open"], code: "EACCES" } }, "degraded"],
    ["has no descriptor left", { fail: { calls: ["open"], code: "EMFILE" } }, "degraded"],
    ["takes a part of each write", { fail: { calls: ["short write"], code: "" } }, "ok"],
    ["cannot sync", { fail: { calls: ["sync"], code: "EIO" } }, "ok"],
    ["takes five seconds for each write", { slowMs: 5000 }, "ok"],
  ];

  test.for(cases)("a disk that %s", async ([, plan, health]) => {
    const given = await world();
    const folder = temporaryFolder();
    const child = await startChildProxy({ ...plan, options: { to: given.upstream.origin, ledger: folder } });
    expect(await differences(given, child.port)).toBeUndefined();
    expect(await healthOf(child.port)).toEqual({ status: health, mode: "repair" });
    expect(await found(given, child.port)).toEqual(ALL);
    // All answers came before the first slow write was done.
    if (plan.slowMs !== undefined) expect(segmentsOf(folder).map((file) => statSync(file).size)).toEqual([0]);
    await child.kill("SIGTERM");
    await child.line("points"); // it ended of its own will
  });
});

describe("a folder that goes away while the proxy runs", () => {
  test("changes nothing for the client, and what comes after is kept, or the health says that it is not", async () => {
    const given = await world();
    const folder = await soundLedger(given);
    const proxy = await openProxy({ to: given.upstream.origin, ledger: folder });
    expect(await differences(given, proxy.port)).toBeUndefined();
    rmSync(folder, { recursive: true });
    expect(await differences(given, proxy.port)).toBeUndefined();
    const health = proxy.health;
    await proxy.close();
    const kept = health === "degraded" || ledgerStatus(folder).groups > 0;
    expect([health, kept]).toEqual([health, true]);
  });

  test.for(["removed", "emptied", "overwritten"])(
    "a segment that is %s after it was read: its thoughts stay out, and nothing else changes",
    async (how) => {
      const given = await world();
      const folder = await soundLedger(given);
      const proxy = await openProxy({ to: given.upstream.origin, ledger: folder });
      for (const file of segmentsOf(folder))
        if (how === "removed") rmSync(file);
        else if (how === "emptied") truncateSync(file);
        else writeFileSync(file, Buffer.alloc(statSync(file).size, 0x41));
      expect(await found(given, proxy.port)).toEqual([]);
      expect(await differences(given, proxy.port)).toBeUndefined();
    },
  );
});

/** Damage that costs at most the lines it touches. */
const LINE_DAMAGE: Readonly<Record<string, (file: string) => void>> = {
  "a torn tail": (file) => appendFileSync(file, readFileSync(file).subarray(0, 100)),
  "a tail that was cut": (file) => truncateSync(file, statSync(file).size - 7),
  "garbage lines": (file) =>
    appendFileSync(
      file,
      'garbage\n\n{}\n{"type":"group"}\n\0\0\0\n[1]\nnull\n{"type":"group","sum":"00000000"}\n',
    ),
  "binary in front": (file) =>
    writeFileSync(file, Buffer.concat([Buffer.from([0, 255, 10, 10, 0]), readFileSync(file)])),
  "a block of zeros at the end": (file) => appendFileSync(file, Buffer.alloc(4096)),
  "a line of an unknown type": (file) => appendFileSync(file, frameOpen('{"type":"later","what":[1]')),
  "sound lines that hold something else": (file) => {
    for (const text of [
      '{"type":"group"',
      '{"type":"group","id":7,"openings":null',
      '{"type":"asked","id":"x"',
      '{"type":"pin"',
      '{"type":"used"',
      '{"type":"account"',
      '{"x":1',
      '{"type":null',
    ])
      appendFileSync(file, frameOpen(text));
  },
};

describe("a damaged ledger is never fatal", () => {
  test.for(Object.entries(LINE_DAMAGE))("%s costs no other line", async ([, damage]) => {
    const given = await world();
    const folder = await soundLedger(given);
    for (const file of segmentsOf(folder)) damage(file);
    const proxy = await openProxy({ to: given.upstream.origin, ledger: folder });
    expect([proxy.health, await found(given, proxy.port)]).toEqual(["ok", ALL]);
    expect(await differences(given, proxy.port)).toBeUndefined();
    expect(() => [ledgerStatus(folder), readExchanges(folder)]).not.toThrow();
  });

  test("flipped bits at any offset", async () => {
    const given = await world();
    const folder = await soundLedger(given);
    const [file = ""] = segmentsOf(folder);
    const sound = readFileSync(file);
    const random = randomFrom(7).fork("bit flips");
    for (let turn = 0; turn < 12; turn += 1) {
      const bytes = Buffer.from(sound);
      for (let flips = 0; flips < 1 + turn; flips += 1) {
        const at = Math.floor(random.next() * bytes.length);
        bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(random.next() * 8));
      }
      for (const one of segmentsOf(folder)) rmSync(one);
      writeFileSync(file, bytes);
      const proxy = await openProxy({ to: given.upstream.origin, ledger: folder });
      expect([turn, proxy.health, await differences(given, proxy.port)]).toEqual([turn, "ok", undefined]);
      await proxy.close();
      expect(ledgerStatus(folder).damage.length).toBeGreaterThan(0);
    }
  });
});

describe("an answer that the proxy cannot make sense of reaches the client all the same", () => {
  const nested = "[".repeat(500) + "]".repeat(500);
  const answers: readonly (readonly [path: string, body: object])[] = [
    [
      "/v1/responses",
      {
        id: "resp_1",
        status: "completed",
        output: [{ type: "function_call", id: "fc_1", call_id: "call_1", name: "f", arguments: nested }],
      },
    ],
    [
      "/v1/messages",
      {
        id: "msg_1",
        type: "message",
        role: "assistant",
        stop_reason: "tool_use",
        content: [{ type: "tool_use", id: "toolu_1", name: "f", input: JSON.parse(nested) as object }],
      },
    ],
    [
      "/v1/chat/completions",
      {
        id: "c",
        choices: [
          {
            index: 0,
            finish_reason: "tool_calls",
            message: {
              role: "assistant",
              content: null,
              tool_calls: [{ id: "call_1", type: "function", function: { name: "f", arguments: nested } }],
            },
          },
        ],
      },
    ],
  ];

  test.for(answers)("%s: arguments that nest 500 levels", async ([path, answer]) => {
    const upstream = await startUpstream(answerBytes("200 OK", [JSON_TYPE], JSON.stringify(answer)));
    const proxy = await openProxy({ to: upstream.origin });
    const body = '{"model":"m","input":"a","messages":[{"role":"user","content":"a"}]}';
    const got = await ask(proxy.port, requestTo(proxy.port, path, { body }));
    expect([got.status, got.whole, got.body.toString()]).toEqual([200, true, JSON.stringify(answer)]);
  });

  test("callbacks of the user that throw do not reach the client", async () => {
    const given = await world();

    const fail = (): never => {
      throw new Error("of the user");
    };
    const proxy = await startProxy({ to: given.upstream.origin, port: 0, onExchange: fail, onProblem: fail });
    expect(await differences(given, proxy.port)).toBeUndefined();
    await proxy.close();
  });
});
