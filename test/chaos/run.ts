/**
 * `npm run test:chaos`: four nodes with the real server and turn loop on one database, under faults, and clients that
 * repeat their requests until they are answered. At the end the logs are compared with everything that was acknowledged,
 * seen and done. `-- --control` takes the guard out of the append; that run must find a
 * violation within a minute.
 *
 * THROUGHLINE_CHAOS_SECONDS sets how long the faults last (600), THROUGHLINE_SEED or FC_SEED the seed.
 */

import { setMaxListeners } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { messageOf } from "../../src/base/support/index.ts";
import { Approver } from "./approver.ts";
import { bundleChild } from "./bundle-child.ts";
import { checkRun } from "./check-run.ts";
import { ChaosDatabase } from "./database.ts";
import { Faults } from "./faults.ts";
import { FaultyProxy } from "./faulty-proxy.ts";
import { Ledger } from "./ledger.ts";
import { LogBook } from "./log-book.ts";
import { ChaosNode } from "./nodes.ts";
import { type Random, randomFrom } from "./random.ts";
import { ask, pause, type RequestParts } from "./requests.ts";
import { newTurn, Sender, type SenderParts } from "./sender.ts";
import { answers, table } from "./table.ts";

const NODES = 4;
const SENDERS = 5;
const VIEWERS_EACH = 1;
const LEASE_MS = 800;
const DRAIN_MS = 700;
const CHECK_EVERY_MS = 700;
const TELL_EVERY_MS = 30_000;
/** How long everything that was accepted may take to end when the faults are over. */
const ENDS_WITHIN_MS = 60_000;
const CONTROL_FAILS_WITHIN_MS = 60_000;
const DEFAULT_SECONDS = 600;

const isControl = process.argv.includes("--control");
const seconds = Number(process.env["THROUGHLINE_CHAOS_SECONDS"] ?? DEFAULT_SECONDS);
const seed = seedOf(process.env["THROUGHLINE_SEED"] ?? process.env["FC_SEED"]);

function seedOf(text: string | undefined): number {
  const given = Number(text);
  return text === undefined || !Number.isInteger(given) ? Math.floor(Math.random() * 2 ** 31) : given;
}

function tell(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function main(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "throughline-chaos-"));
  mkdirSync(folder, { recursive: true });
  const ledger = new Ledger(folder);
  const random = randomFrom(seed);
  const what = isControl ? "control without the guard" : `${seconds} s of faults`;
  tell(`chaos: ${what}, ${NODES} nodes, lease ${LEASE_MS} ms, seed ${seed}`);
  const bundle = join(folder, "node-child.mjs");
  await bundleChild(bundle, isControl);
  const database = await ChaosDatabase.start();
  const tools = new FaultyProxy(() => database.port); // without faults: it only follows promotions
  await tools.listen();
  const nodes = makeNodes({ bundle, ledger, random, database }, tools.port);
  const clean = async (signal: "SIGTERM" | "SIGKILL"): Promise<void> => {
    await Promise.all(nodes.map((node) => node.close(signal)));
    tools.close();
    await database.remove();
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => void clean("SIGKILL").finally(() => process.exit(1)));
  try {
    await Promise.all(nodes.map((node) => node.open()));
    await runAll({ ledger, random, database, nodes });
  } catch (error) {
    ledger.violate(
      `the run itself failed: ${messageOf(error)}`,
      error instanceof Error ? error.stack : undefined,
    );
  } finally {
    await clean(ledger.violated.aborted ? "SIGKILL" : "SIGTERM");
  }
  writeFileSync(join(folder, "answers.txt"), `${answers(ledger)}\n`);
  tell(table(ledger));
  return isControl ? judgeControl(ledger) : judge(ledger);
}

function judge({ folder, violations }: Ledger): number {
  if (violations.length === 0) {
    rmSync(folder, { recursive: true, force: true });
    tell("no violations");
    return 0;
  }
  for (const { what, afterMs } of violations.slice(0, 20)) tell(`violation after ${afterMs} ms: ${what}`);
  tell(`${violations.length} violations with seed ${seed}. The details are in ${folder}`);
  return 1;
}

/** The control shows that the run can fail. It passes when it has found a violation. */
function judgeControl({ folder, violations }: Ledger): number {
  const [first] = violations;
  rmSync(folder, { recursive: true, force: true });
  if (first === undefined) {
    tell("the control found no violation: a run without violations proves nothing");
    return 1;
  }
  tell(`the control fails as it should, after ${(first.afterMs / 1000).toFixed(1)} s: ${first.what}`);
  return 0;
}

function makeNodes(
  { bundle, ledger, random, database }: Omit<RunParts, "nodes"> & { readonly bundle: string },
  toolsPort: number,
): readonly ChaosNode[] {
  const token = Array.from({ length: 40 }, () => "0123456789abcdef"[Math.floor(Math.random() * 16)]).join("");
  return Array.from({ length: NODES }, (_, index) => {
    const name = `node-${index + 1}`;
    return new ChaosNode({
      name,
      bundle,
      ledger,
      random: random.fork(name),
      token,
      leaseMs: LEASE_MS,
      drainMs: DRAIN_MS,
      databasePort: () => database.port,
      toolsPort,
    });
  });
}

interface RunParts {
  readonly ledger: Ledger;
  readonly random: Random;
  readonly database: ChaosDatabase;
  readonly nodes: readonly ChaosNode[];
}

async function runAll({ ledger, random, database, nodes }: RunParts): Promise<void> {
  const [clientsOver, faultsOver] = [new AbortController(), new AbortController()];
  setMaxListeners(0, clientsOver.signal, faultsOver.signal); // one of each viewer
  const book = new LogBook(database, ledger);
  const token = nodes[0]?.token ?? "";
  const parts: SenderParts = {
    nodes,
    ledger,
    token,
    random: random.fork("clients"),
    viewersEach: VIEWERS_EACH,
    viewers: [],
    running: new Set(),
  };
  const senders = Array.from({ length: SENDERS }, (_, n) =>
    new Sender(parts, `s${n}`, clientsOver.signal).run(),
  );
  const promoted = async (): Promise<void> => {
    await book.readAnew();
    for (const [id, at] of ledger.sessions)
      if (!book.logs.has(id) && ledger.mayBeLost(at)) ledger.sessions.delete(id);
    for (const viewer of parts.viewers) viewer.takeBack(book.logs.get(viewer.session)?.events.length ?? 0);
  };
  const faults = new Faults({
    nodes,
    database,
    ledger,
    random: random.fork("faults"),
    leaseMs: LEASE_MS,
    promoted,
  });
  const faulting = faults.run(faultsOver.signal);
  const forMs = isControl ? Math.min(seconds * 1000, CONTROL_FAILS_WITHIN_MS) : seconds * 1000;
  const approver = new Approver(parts, book);
  await watch(ledger, book, approver, forMs);
  faultsOver.abort();
  clientsOver.abort();
  await faulting;
  await Promise.all([...senders, ...parts.running]);
  ledger.note("the faults are over");
  if (!ledger.violated.aborted) await settle(parts, book, approver);
  await book.read();
  if (!ledger.violated.aborted) await book.readAll();
  const isComplete = !ledger.violated.aborted;
  const viewers = ledger.violated.aborted ? [] : parts.viewers;
  if (!ledger.violated.aborted) {
    const deadline = AbortSignal.timeout(ENDS_WITHIN_MS);
    setMaxListeners(0, deadline);
    await Promise.all(
      viewers.map((one) => one.finish(book.logs.get(one.session)?.events.length ?? 0, deadline)),
    );
  }
  if (!isControl) await checkRun({ ledger, book, database, viewers, isComplete });
  if (!ledger.violated.aborted) return;
  book.write(join(ledger.folder, "logs"));
  for (const name of ["nodes", "sessions", "inbox"])
    ledger.write(`${name}.json`, JSON.stringify(await database.sql(`select * from throughline.${name}`)));
  ledger.write("turns.json", JSON.stringify([...ledger.turns.values()]));
}

/** Lets the run go on, and looks at the logs now and then. Returns early at the first violation. */
async function watch(ledger: Ledger, book: LogBook, approver: Approver, forMs: number): Promise<void> {
  const end = ledger.elapsedMs + forMs;
  let told = ledger.elapsedMs;
  while (ledger.elapsedMs < end && !ledger.violated.aborted) {
    await pause(Math.min(CHECK_EVERY_MS, Math.max(0, end - ledger.elapsedMs)));
    await book.read();
    approver.answer();
    if (ledger.elapsedMs - told < TELL_EVERY_MS) continue;
    told = ledger.elapsedMs;
    const ended = book.ends.size;
    tell(
      `  ${Math.round(told / 1000)} s: ${ledger.sessions.size} sessions, ${ended} turns ended, ${ledger.count("stops")} stops, ${ledger.count("kills")} kills`,
    );
  }
}

/** Every accepted turn ends, every session answers one more message, and all nodes agree on how turns ended. */
async function settle(parts: SenderParts, book: LogBook, approver: Approver): Promise<void> {
  const { ledger } = parts;
  const deadline = ledger.elapsedMs + ENDS_WITHIN_MS;
  const open = (): readonly string[] =>
    [...ledger.turns.values()]
      .filter(({ acceptedAt, turn }) => acceptedAt !== undefined && book.endOf(turn) === undefined)
      .filter(({ acceptedAt, turn }) => !ledger.mayBeLost(acceptedAt) || book.isKnown(turn))
      .map(({ turn }) => turn);
  await book.read();
  while (open().length > 0 && ledger.elapsedMs < deadline) {
    await pause(300);
    await book.read();
    approver.answer();
  }
  for (const turn of open())
    ledger.violate(`turn ${turn} was accepted (202) and did not end within ${ENDS_WITHIN_MS} ms`);
  const over = AbortSignal.timeout(ENDS_WITHIN_MS);
  const waiting = [...ledger.sessions.keys()];
  const work = async (): Promise<void> => {
    for (let session = waiting.shift(); session !== undefined; session = waiting.shift())
      await oneMore(parts, session, over);
  };
  await Promise.all([work(), work(), work(), work()]);
  await compareStates(parts, book, over);
}

async function oneMore(parts: SenderParts, session: string, over: AbortSignal): Promise<void> {
  const { ledger } = parts;
  const turn = `${session}-last`;
  const input = "Hello once more.";
  const promised = newTurn(session, turn, input, false);
  ledger.turns.set(turn, promised);
  const answer = await ask(parts, `/${session}/turns`, { body: { input, turn } }, over);
  const path = `/${session}/turns/${turn}?wait=10`;
  for (let state = answer; ; state = await ask(parts, path, { waitMs: 15_000 }, over)) {
    if (state === undefined || state.status >= 300) {
      ledger.violate(`session ${session} did not answer one more message`, state);
      return;
    }
    promised.acceptedAt ??= Date.now();
    if (state.body["state"] !== "done") continue;
    const { status } = state.body["result"] as { readonly status: string };
    if (status !== "completed")
      ledger.violate(`the last message of session ${session} ended ${status}`, state);
    return;
  }
}

const COMPARED = 150;

/** Any node tells how a turn ended as the log has it. */
async function compareStates(parts: RequestParts, book: LogBook, over: AbortSignal): Promise<void> {
  const { ledger, random } = parts;
  const turns = [...ledger.turns.values()].filter(({ acceptedAt }) => acceptedAt !== undefined);
  for (let n = 0; n < COMPARED && turns.length > 0; n += 1) {
    const { session, turn } = random.pick(turns);
    const end = book.endOf(turn);
    if (end === undefined) continue; // one of the last messages
    const answer = await ask(parts, `/${session}/turns/${turn}`, {}, over);
    const { status } = (answer?.body["result"] ?? {}) as { readonly status?: string };
    if (answer?.body["state"] !== "done" || status !== end)
      ledger.violate(`a node says that turn ${turn} is ${status ?? "open"}, and it ended ${end}`, answer);
  }
}

process.exit(await main()); // a client's connection to a killed node must not keep this process
