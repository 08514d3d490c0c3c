import { describe, expect, test } from "vitest";

import { afterTest } from "../../../test/contracts/file-fixture.ts";
import { KEY, ofType } from "../../../test/contracts/session-fixture.ts";
import { type TestTurn, testTurn } from "../../../test/contracts/turn-fixture.ts";
import type { Settings } from "../../base/events/index.ts";
import { type Emulator, type Fault, parseFaults, startEmulator } from "../../emulator/index.ts";
import { openai } from "../models/index.ts";
import { runStep } from "./step.ts";
import { runTurn } from "./turn.ts";

type Options = Partial<Omit<Parameters<typeof testTurn>[0], "setup">> & {
  readonly change?: Partial<Settings>;
};

async function withFaults(
  faults: readonly Fault[],
  options: Options = {},
): Promise<TestTurn & { readonly emulator: Emulator }> {
  const emulator = await startEmulator({ faults });
  afterTest(() => emulator.close());
  const model = openai("emu-reasoner", { apiKey: KEY, baseUrl: emulator.baseUrl });
  const settings: Settings = { ...model.settings, tools: [], replay: "all", ...options.change };
  const turn = await testTurn({ ...options, setup: () => ({ model, settings }) });
  return { ...turn, emulator };
}

const faults = (...texts: readonly string[]): readonly Fault[] => texts.flatMap((text) => parseFaults(text));

describe("retries", () => {
  test("wait longer each time after a transient failure, with random jitter, and are announced", async () => {
    const random = [0, 1, 0.5];
    const { context, live, waits } = await withFaults(faults("http=500", "http=502", "http=503"), {
      random: () => random.shift() ?? 0,
    });
    const { end } = await runStep(context, 1);
    expect(end.status).toBe("completed");
    expect(waits).toEqual([375, 1250, 2000]);
    expect(
      ofType(live, "retry").map(({ attempt, delayMs, error }) => [attempt, delayMs, error.status]),
    ).toEqual([
      [2, 375, 500],
      [3, 1250, 502],
      [4, 2000, 503],
    ]);
  });

  test("wait as long as the server says", async () => {
    const limited: Fault = { type: "http", status: 429, headers: { "retry-after": "7" } };
    const precise: Fault = { type: "http", status: 429, headers: { "retry-after-ms": "150" } };
    const { context, waits } = await withFaults([limited, precise]);
    expect((await runStep(context, 1)).end.status).toBe("completed");
    expect(waits).toEqual([7000, 150]);
  });

  test("never wait longer than 8 s on their own", async () => {
    const { context, waits } = await withFaults(
      faults("http=500", "http=500", "http=500", "http=500", "http=500", "http=500"),
      {
        limits: { maxRetries: 6 },
      },
    );
    await runStep(context, 1);
    expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 8000]);
  });

  test("stop at the limit, and the step fails with the last attempt's error", async () => {
    const { context, emulator } = await withFaults(faults("http=500", "http=502", "http=503"), {
      limits: { maxRetries: 2 },
    });
    const { end } = await runStep(context, 1);
    expect(end).toMatchObject({ status: "failed", error: { status: 503, class: "RATE" } });
    expect(emulator.report().totals.requests).toBe(3);
  });

  test.each(["http=401", "http=400,code:invalid_prompt", "http=429,code:insufficient_quota"])(
    "are not made for permanent errors: %s",
    async (fault) => {
      const { context, waits, emulator } = await withFaults(faults(fault));
      expect((await runStep(context, 1)).end.status).toBe("failed");
      expect([waits, emulator.report().totals.requests]).toEqual([[], 1]);
    },
  );

  test("are made for a stream that was cut; what was seen of it stays, and is superseded", async () => {
    const { context, live } = await withFaults(faults("cut=after-event:12"));
    expect((await runStep(context, 1)).end.status).toBe("completed");
    const starts = ofType(live, "response_start");
    expect(starts.map(({ step, attempt }) => [step, attempt])).toEqual([
      [1, 1],
      [1, 2],
    ]);
    expect(new Set(starts.map(({ response }) => response)).size).toBe(2);
    expect(ofType(live, "response_end").map(({ status }) => status)).toEqual(["cut", "completed"]);
    const [partial] = ofType(live, "partial");
    expect(partial).toMatchObject({ kind: "reasoning", response: starts[0]?.response });
    const seen = ofType(live, "reasoning_delta")
      .filter(({ response }) => response === starts[0]?.response)
      .map(({ delta }) => delta)
      .join("");
    expect(partial?.parts.join("").startsWith(seen)).toBe(true);
  });

  test("end the step as cancelled, without another request, if the wait is aborted", async () => {
    let abort: (() => void) | undefined;
    const { context, emulator, controller } = await withFaults(faults("http=500"), {
      onSleep: () => abort?.(),
    });
    abort = () => controller.abort(new Error("stop"));
    expect((await runStep(context, 1)).end.status).toBe("cancelled");
    expect(emulator.report().totals.requests).toBe(1);
  });

  test("are logged with their hash before their request is sent", async () => {
    const { context, live, emulator } = await withFaults(faults("http=500"));
    await runStep(context, 1);
    const hashes = ofType(live, "response_start").map(({ bodyHash }) => bodyHash);
    const sent = await Promise.all(
      emulator.exchanges.map(async ({ requestText }) => {
        const digest = await crypto.subtle.digest("SHA-256", Buffer.from(requestText));
        return Buffer.from(digest).toString("hex");
      }),
    );
    expect(hashes).toEqual(sent);
  });
});

describe("settings", () => {
  test("become an event once, and again only when they change", async () => {
    const emulator = await startEmulator();
    afterTest(() => emulator.close());
    const model = openai("emu-reasoner", { apiKey: KEY, baseUrl: emulator.baseUrl });
    const base: Settings = { ...model.settings, tools: [], replay: "all" };
    let settings = base;
    const { context, live } = await testTurn({ setup: () => ({ model, settings }) });
    await runStep(context, 1);
    settings = { ...base }; // equal, but another object
    await runStep(context, 2);
    expect(ofType(live, "settings")).toHaveLength(1);
    settings = { ...base, system: "changed" };
    await runStep(context, 3);
    expect(ofType(live, "settings").map((event) => event.settings.system)).toEqual([undefined, "changed"]);
    expect(emulator.report().totals.refused).toBe(0);
  });
});

describe("healing", () => {
  test("answers a refusal of ciphertext by omitting it from this and all later requests", async () => {
    const { context, live, emulator, waits } = await withFaults([]);
    await runStep(context, 1);
    emulator.rotateKey();
    await context.live.append([
      { type: "user_message", turn: "tn_1", by: "person", content: [{ type: "text", text: "more" }] },
    ]);
    expect((await runStep(context, 2)).end.status).toBe("completed");
    const overrides = ofType(live, "replay_override");
    expect(overrides.length).toBeGreaterThan(0);
    expect(overrides[0]).toMatchObject({ action: "omit_reasoning", cause: { class: "CRYPT" } });
    expect(ofType(live, "notice").map(({ code }) => code)).toContain("healed");
    const refused = emulator.report().totals.refused;
    await runStep(context, 3);
    expect([emulator.report().totals.refused, waits]).toEqual([refused, []]);
  });

  test("surfaces unchanged an error that it cannot heal", async () => {
    const odd: Fault = { type: "http", status: 400, code: "odd_thing", message: "Something odd." };
    const { context } = await withFaults([odd]);
    expect((await runStep(context, 1)).end).toMatchObject({
      status: "failed",
      error: { code: "odd_thing", message: "Something odd.", status: 400 },
    });
  });
});

test("a turn whose log cannot be written fails with the log's error and sends no request", async () => {
  const { context, emulator } = await withFaults([]);
  await context.live.log.close();
  const outcome = await runTurn(context, { opening: [], owed: [], firstStep: 1 });
  expect(outcome).toMatchObject({ status: "failed", error: { code: "log_closed" } });
  expect(emulator.report().totals.requests).toBe(0);
});
