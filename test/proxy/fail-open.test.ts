import { mkdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { ledgerStatus, startProxy } from "../../src/proxy/relay/index.ts";
import { temporaryFolder } from "../contracts/file-fixture.ts";
import { type ChildPlan, startChildProxy } from "./support/child-plan.ts";
import {
  ALL,
  differences,
  found,
  healthOf,
  segmentsOf,
  soundLedger,
  world,
} from "./support/fail-open-world.ts";
import { answerBytes, ask, JSON_TYPE, openProxy, requestTo, startUpstream } from "./support/wire.ts";

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

const fail = (): never => {
  throw new Error("of the user");
};

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

    const proxy = await startProxy({ to: given.upstream.origin, port: 0, onExchange: fail, onProblem: fail });
    expect(await differences(given, proxy.port)).toBeUndefined();
    await proxy.close();
  });
});
