import { afterAll, describe, expect, test } from "vitest";

import { type Emulator, startEmulator } from "../../src/emulator/index.ts";
import { ledgerStatus, readExchanges } from "../../src/proxy/relay/index.ts";
import { temporaryFolder } from "../contracts/file-fixture.ts";
import { afterTest } from "../support/clean-up.ts";
import { Tally } from "../support/runs.ts";
import { type ChildPlan, startChildProxy } from "./support/child-plan.ts";
import { ownStreams } from "./support/streams.ts";
import { type Heard, type Said, type Talker, TALKERS } from "./support/talk.ts";
import { answerBytes, ask, JSON_TYPE, openProxy, requestTo, startUpstream } from "./support/wire.ts";

/** THROUGHLINE_RUNS=300 and more: that many points, spread over all. */
const RUNS = Number(process.env["THROUGHLINE_RUNS"] ?? 16);
const KEY = "sk-kill";
/** Exchanges under way at the same time. */
const LANES = 3;

interface Delivered {
  readonly talker: Talker;
  readonly history: readonly Said[];
  readonly stream: boolean;
  readonly heard: Heard;
}

const LAST_EVENT = /event: (?:response\.completed|message_stop)\ndata: .*\n\n$|data: \[DONE\]\n\n$/;

async function send(
  port: number,
  talker: Talker,
  history: readonly Said[],
  stream: boolean,
): Promise<Heard | undefined> {
  const request = requestTo(port, talker.path, {
    headers: [...talker.headers(KEY), JSON_TYPE],
    body: talker.body(history, stream),
  });
  const got = await ask(port, request);
  // A client takes the last event for the end, whatever becomes of the connection.
  const isWhole = got.whole || (stream && LAST_EVENT.test(got.body.toString()));
  if (got.status === 0 || !isWhole) return undefined;
  if (got.status !== 200) throw new Error(got.body.toString());
  return talker.heard(got.body.toString(), stream);
}

/** Conversations side by side, until all have ended or the proxy has died. Returns the answers that arrived whole. */
async function converse(port: number): Promise<readonly Delivered[]> {
  const delivered: Delivered[] = [];
  const lane = async (number: number): Promise<void> => {
    for (const [turn, talker] of [...TALKERS, ...TALKERS].entries()) {
      let history: readonly Said[] = [{ user: `Question ${turn} of lane ${number}, if you please.` }];
      for (const stream of [turn % 2 === 0, turn % 2 === 1]) {
        const heard = await send(port, talker, history, stream);
        if (heard === undefined) return;
        delivered.push({ talker, history, stream, heard });
        history = [...history, { model: heard.text }, { user: "Go on." }];
      }
    }
  };
  await Promise.all(Array.from({ length: LANES }, (_, number) => lane(number)));
  return delivered;
}

/** The delivered answers whose thought is not in the next request. */
async function lost(
  delivered: readonly Delivered[],
  emulator: Emulator,
  folder: string,
): Promise<readonly string[]> {
  const sent: string[] = [];
  const proxy = await openProxy({ to: emulator.url, ledger: folder, onExchange: () => undefined });
  expect(proxy.health).toBe("ok");
  const found: string[] = [];
  for (const { talker, history, stream, heard } of delivered) {
    await send(proxy.port, talker, [...history, { model: heard.text }, { user: "And then?" }], true);
    const text = emulator.exchanges.at(-1)?.requestText ?? "";
    sent.push(text);
    if (heard.thought === "" || !text.includes(heard.thought))
      found.push(`${talker.name}, ${stream ? "stream" : "plain"}: ${JSON.stringify(history[0])}`);
  }
  expect(sent).toHaveLength(delivered.length);
  await proxy.close();
  return found;
}

async function start(plan: Partial<ChildPlan>): Promise<{
  readonly emulator: Emulator;
  readonly folder: string;
  readonly child: Awaited<ReturnType<typeof startChildProxy>>;
}> {
  const emulator = await startEmulator({ mode: "lenient" });
  afterTest(() => emulator.close());
  const folder = temporaryFolder();
  const child = await startChildProxy({ ...plan, options: { to: emulator.url, ledger: folder } });
  return { emulator, folder, child };
}

const tally = new Tally();
afterAll(() => {
  tally.print("killed proxies");
  // A sweep that killed nothing, or before anything was answered, must not pass.
  expect(tally.get("killed")).toBeGreaterThanOrEqual(RUNS * 0.9);
  expect(tally.get("answers delivered before")).toBeGreaterThan(RUNS * 4);
});

/**
 * How many points a run has: writes to sockets and system calls of the ledger. It differs a little from run to run, so
 * the kills are spread over somewhat fewer.
 */
const POINTS = 780;
const EXCHANGES = LANES * TALKERS.length * 2 * 2;

/** A number out of each of so many equal parts of a range, the first and the last part included. */
const spread = (count: number, range: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => 1 + Math.floor(((index + 0.5) * range) / count));

describe("after SIGKILL, every answer that a client received whole is known again", () => {
  const half = Math.ceil(RUNS / 2);
  const plans: readonly (readonly [name: string, plan: Partial<ChildPlan>])[] = [
    ...spread(half, POINTS).map((dieAt) => [`at point ${dieAt}`, { dieAt }] as const),
    ...spread(half, EXCHANGES).map((dieAtEnd) => [`at the end of answer ${dieAtEnd}`, { dieAtEnd }] as const),
  ];

  test.for(plans)("%s", async ([, plan]) => {
    const { emulator, folder, child } = await start(plan);
    const delivered = await converse(child.port);
    await child.kill("SIGTERM");
    const survived = await child.line("points").then(
      () => true,
      () => false,
    );
    tally.add(survived ? "survived" : "killed");
    tally.add("answers delivered before", delivered.length);
    expect(await lost(delivered, emulator, folder)).toEqual([]);
    // What a kill leaves is read without an error, and at most a torn end is reported.
    expect(ledgerStatus(folder).damage.length).toBeLessThanOrEqual(1);
    expect(() => readExchanges(folder)).not.toThrow();
  });

  test.for(TALKERS)("$name: at the last byte of an answer whose length was told", async (talker) => {
    const plain = (await ownStreams(false)).find(({ name }) => name === `${talker.name}, a text`);
    const upstream = await startUpstream(answerBytes("200 OK", [JSON_TYPE], plain?.bytes));
    const folder = temporaryFolder();
    const child = await startChildProxy({ dieAtEnd: 1, options: { to: upstream.origin, ledger: folder } });
    const history = [{ user: "Grüße 🧠" }];
    const heard = await send(child.port, talker, history, false);
    await child.exited;
    expect(heard?.thought).toMatch(/./);
    const proxy = await openProxy({ to: upstream.origin, ledger: folder });
    await send(proxy.port, talker, [...history, { model: heard?.text ?? "" }, { user: "Go on." }], false);
    expect(upstream.requests.at(-1)?.body.toString()).toContain(heard?.thought);
  });

  test("in a run that nobody kills, there are as many points as that", async () => {
    const { emulator, folder, child } = await start({ counts: true });
    const delivered = await converse(child.port);
    expect(delivered).toHaveLength(EXCHANGES);
    await child.kill("SIGTERM");
    const [points = 0, ends = 0] = (await child.line("points")).split(" ").map(Number);
    expect([points > POINTS, points < 4 * POINTS, ends]).toEqual([true, true, EXCHANGES]);
    tally.add("points in a whole run", points);
    expect(await lost(delivered, emulator, folder)).toEqual([]);
  });
});
