/**
 * The terminal interface on a real screen while nodes die: on a server behind a balancer, and with the sessions of the
 * terminal itself in the database. It says what is lost, keeps what is typed, and then shows everything once.
 */

import { expect, test } from "vitest";

import { emulatorOf, eventsOf, newPlace } from "../cli/harness.ts";
import { KEYS, onScreen, type ScreenRun, stalledAfter } from "../tui/screen-harness.ts";
import { database } from "./fixture.ts";
import {
  end,
  eventsIn,
  holderOf,
  type Looked,
  ownDatabase,
  type Pool,
  type ServedNode,
  servedPool,
  TOKEN,
} from "./served-nodes.ts";

const GOES_ON = [
  { output: [{ message: "The first half. The second half." }] },
  { output: [{ message: "The first half. The second half." }] },
  { output: [{ message: "The second answer." }] },
  { output: [{ message: "The third answer." }] },
];
const LOST = "The server does not answer. Reconnecting…";
const FENCED = "This terminal may no longer write the session";

async function onlySession({ sql }: Looked): Promise<string> {
  const rows = await sql("select id from s.sessions where made");
  expect(rows).toHaveLength(1);
  return String(rows[0]?.["id"]);
}

async function messagesIn(db: Looked): Promise<readonly string[]> {
  return eventsOf(await eventsIn(db, await onlySession(db)), "user_message").map(({ content }) =>
    content.map((part) => (part.type === "text" ? part.text : part.type)).join(""),
  );
}

const timesOn = (screen: ScreenRun, text: string): number => screen.everything.split(text).length - 1;

interface Streaming {
  readonly screen: ScreenRun;
  readonly db: Looked;
  readonly pool: Pool;
  readonly one: ServedNode;
  readonly two: ServedNode;
}

/** A terminal whose only server, "one", stops in the middle of an answer. "two" runs and gets no connections yet. */
async function streaming(): Promise<Streaming> {
  const db = await database();
  const pool = await servedPool(db);
  const { env } = await stalledAfter(GOES_ON, "The first half.");
  const [one, two] = await Promise.all([pool.join("one", env), pool.start("two", env)]);
  const screen = onScreen(newPlace(), ["--server", pool.balancer.url, "Go"], {
    columns: 100,
    env: { THROUGHLINE_TOKEN: TOKEN },
  });
  await screen.shows("The first half.");
  expect(await holderOf(db, await onlySession(db))).toBe("one");
  return { screen, db, pool, one, two };
}

test("a terminal on a server says that its node is gone, keeps what is typed, and shows everything once on the next", async () => {
  const { screen, db, pool, one, two } = await streaming();
  screen.press("Typed before");
  await screen.shows("❯ Typed before");
  await end(one, "SIGKILL");
  await screen.shows(LOST);
  expect(screen.screen).toContain("The first half.");
  expect(screen.screen).toContain("❯ Typed before");
  screen.press(KEYS.enter);
  await screen.shows("⋯ Typed before");
  await screen.shows("Sent when the server is back");
  screen.press("Not sent yet");
  await screen.shows("❯ Not sent yet");
  pool.balancer.join("two", two.port);
  await screen.hides(LOST);
  await screen.shows("The second answer.");
  await screen.until("two ends", () => timesOn(screen, "─ Worked for") === 2);
  for (const text of ["The first half. The second half.", "The second answer.", "› Go", "› Typed before"])
    expect([text, timesOn(screen, text)]).toEqual([text, 1]);
  expect(screen.screen).toContain("❯ Not sent yet");
  expect(screen.screen).not.toMatch(/Another process|interrupted/);
  expect(await messagesIn(db)).toEqual(["Go", "Typed before"]);
});

test("a terminal goes on with another node when its own is asked to stop, and can stop the turn there", async () => {
  const db = await database();
  const pool = await servedPool(db);
  // The second request stops there too, so that the resumed turn is still running.
  const { env, emulator } = await stalledAfter(GOES_ON, "The first half.");
  const [one, two] = await Promise.all([pool.join("one", env), pool.join("two", env)]);
  const screen = onScreen(newPlace(), ["--server", pool.balancer.url, "Go"], {
    columns: 100,
    env: { THROUGHLINE_TOKEN: TOKEN },
  });
  await screen.shows("The first half.");
  emulator.addFaults({ type: "stall", at: { where: "after", unit: "event", index: 5 } });
  const holder = (await holderOf(db, await onlySession(db))) === "one" ? one : two;
  const other = holder === one ? two : one;
  expect(await end(holder, "SIGTERM")).toBe(0);
  await expect.poll(async () => holderOf(db, await onlySession(db))).toBe(other.name);
  await expect.poll(() => emulator.report().requests.length).toBe(2);
  await screen.hides(LOST);
  await screen.shows("● Working");
  screen.press(KEYS.escape);
  await screen.shows("■ Stopped.");
  await screen.ready();
  const ends = eventsOf(await eventsIn(db, await onlySession(db)), "turn_end");
  expect(ends.map(({ status }) => status)).toEqual(["cancelled"]);
  await screen.say("And now?");
  await screen.shows("The second answer.");
  expect(await messagesIn(db)).toEqual(["Go", "And now?"]);
});

test("a second terminal on the store follows the first, notices that it was killed within the lease, and goes on", async () => {
  const db = await database();
  const { env } = await stalledAfter(GOES_ON, "The first half.");
  const options = {
    columns: 100,
    env: { ...env, THROUGHLINE_STORE: db.url, THROUGHLINE_LEASE_MS: "1500" },
  };
  const first = onScreen(newPlace(), ["Go"], options);
  await first.shows("The first half.");
  const second = onScreen(newPlace(), ["-r", await onlySession(db)], options);
  await second.shows("The first half.");
  await second.shows("Another process is writing this session; following it.");
  expect(second.screen).not.toContain("Esc stops"); // only the first can stop it
  await second.say("From the second");
  await second.shows("Your text stays in the input.");
  process.kill(first.pty.pid, "SIGKILL");
  await first.ended;
  await second.shows("No process is writing this session now. Press Enter to take over.");
  second.press(KEYS.backspace.repeat("From the second".length));
  await second.until("an empty input", ({ rows }) => rows.includes("❯"));
  second.press(KEYS.enter);
  await second.shows("The last turn was interrupted: /resume finishes it");
  await second.ready();
  await second.say("/resume");
  await second.shows("The first half. The second half.");
  await second.ready();
  await second.say("From the second");
  await second.shows("The second answer.");
  await second.ready();
  expect(await messagesIn(db)).toEqual(["Go", "From the second"]);
  const events = await eventsIn(db, await onlySession(db));
  expect(eventsOf(events, "partial")).toHaveLength(1);
  expect(eventsOf(events, "turn_end").map(({ status }) => status)).toEqual(["completed", "completed"]);
});

/** Stops a process until its lease is over, as a laptop does that is closed for a while. */
async function sleepBeyondLease(pid: number, db: Looked): Promise<void> {
  const session = await onlySession(db);
  expect(await holderOf(db, session)).toBeDefined();
  process.kill(pid, "SIGSTOP");
  await expect.poll(() => holderOf(db, session)).toBeUndefined();
  process.kill(pid, "SIGCONT");
}

test("a terminal that slept beyond its lease says so, and opens the session again with what was typed", async () => {
  const db = await database();
  const { env } = await emulatorOf();
  const screen = onScreen(newPlace(), ["Go", "--store", db.url], {
    columns: 100,
    env: { ...env, THROUGHLINE_LEASE_MS: "1500" },
  });
  await screen.shows("─ Worked for");
  await screen.ready();
  await sleepBeyondLease(screen.pty.pid, db);
  await screen.shows(FENCED);
  expect(screen.screen).toContain("read-only");
  await screen.say("Slept well?");
  await screen.until("the session again", () => timesOn(screen, "─ Worked for") === 2);
  await screen.shows("❯ Slept well?");
  screen.press(KEYS.enter);
  await screen.shows("You said: “Slept well?”");
  expect(await messagesIn(db)).toEqual(["Go", "Slept well?"]);
});

test("a terminal for a screen reader opens the session again too, and sends the line there", async () => {
  const db = await database();
  const { env } = await emulatorOf();
  const run = onScreen(newPlace(), ["Go", "--screen-reader", "--store", db.url], {
    columns: 250,
    env: { ...env, THROUGHLINE_LEASE_MS: "1500" },
  });
  await run.shows("You said: “Go”");
  await run.shows(/^You:$/m);
  await sleepBeyondLease(run.pty.pid, db);
  run.press(`Slept well?${KEYS.enter}`);
  await run.shows("This terminal may no longer write the session");
  await run.shows("Opening it again.");
  await run.shows("You said: “Slept well?”");
  expect(await messagesIn(db)).toEqual(["Go", "Slept well?"]);
});

test("a terminal whose database is away for longer than its lease loses nothing that was typed", async () => {
  const db = await ownDatabase();
  const { env } = await stalledAfter(GOES_ON, "The first half.");
  const screen = onScreen(newPlace(), ["Go"], {
    columns: 100,
    env: { ...env, THROUGHLINE_STORE: db.url, THROUGHLINE_LEASE_MS: "1500" },
  });
  await screen.shows("The first half.");
  await screen.say("In the queue");
  await screen.shows("⋯ In the queue");
  await db.cluster.stop("immediate");
  await screen.shows(FENCED);
  await screen.shows("Interrupted:");
  await db.cluster.start();
  screen.press("In the input");
  await screen.shows("❯ In the input");
  screen.press(KEYS.enter);
  await screen.shows("The last turn was interrupted: /resume finishes it");
  await screen.shows("❯ In the queue");
  await screen.shows("In the input");
  screen.press(KEYS.enter);
  await screen.shows("The first half. The second half.");
  await screen.ready();
  expect(await messagesIn(db)).toEqual(["Go", "In the queue\n\nIn the input"]);
  expect(await screen.leave()).toBe(0);
});
