/** What a person saw of an answer whose server was killed is there again, for every viewer, before anybody writes. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { connect } from "../../src/access/client/index.ts";
import { createAgent, emulator, fileStore, type SessionEvent, type SessionHandle } from "../../src/index.ts";
import { logsOf, newPlace, type Place } from "../cli/harness.ts";
import { stalledAfter } from "../tui/screen-harness.ts";
import { serve, type Server, TOKEN } from "../tui/server-harness.ts";

const STEPS = [
  {
    output: [
      { reasoning: ["**Looking**\n\nFirst this, then that."] },
      { message: "A finished message." },
      { message: "Half of this one was there." },
    ],
  },
  { output: [{ message: "Done." }] },
];

/** What the live events say of open items, as a viewer shows it: a start begins its item again. */
class Seen {
  readonly items = new Map<number, string>();
  readonly logged: string[] = [];

  take(event: SessionEvent): void {
    if ("seq" in event) {
      this.logged.push(event.type);
      if ("outputIndex" in event) this.items.delete(event.outputIndex);
      if (event.type === "response_end" || event.type === "turn_end") this.items.clear();
      return;
    }
    if (event.type === "text_start" || event.type === "reasoning_start")
      this.items.set(event.outputIndex, "");
    if (event.type === "text_delta" || event.type === "reasoning_delta")
      this.items.set(event.outputIndex, (this.items.get(event.outputIndex) ?? "") + event.delta);
  }

  get text(): string {
    return [...this.items.values()].join("|");
  }
}

/** Follows in the background. */
function watch(session: SessionHandle): Seen & { readonly stop: () => void } {
  const seen = new Seen();
  const over = new AbortController();
  const reading = (async () => {
    for await (const event of session.follow({ signal: over.signal })) seen.take(event);
  })();
  reading.catch(() => undefined);
  return Object.assign(seen, { stop: () => over.abort() });
}

const open = async ({ url }: Server): Promise<SessionHandle> =>
  (await connect(url, { token: TOKEN })).open({ id: "s1" });

async function killed(): Promise<{
  readonly place: Place;
  readonly env: Readonly<Record<string, string>>;
  readonly before: string;
}> {
  const place = newPlace();
  const { env } = await stalledAfter(STEPS, "Half of this");
  const server = await serve(place, env);
  const session = await open(server);
  const seen = watch(session);
  session
    .send("go")
    .result()
    .catch(() => undefined);
  await expect.poll(() => seen.text).toContain("Half of this");
  server.child.kill("SIGKILL");
  await server.exited;
  const before = seen.text;
  seen.stop();
  await session.close();
  return { place, env, before };
}

const folderOf = (place: Place): string => join(place.home, "sessions");

/** Everything in the folder of sessions, so that a write of a reader would be seen. */
const filesIn = (place: Place): readonly (readonly [string, string])[] =>
  readdirSync(folderOf(place), { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => [name, readFileSync(join(folderOf(place), name), "utf8")] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));

test("a fresh client of the next server sees exactly what the client before the kill had seen", async () => {
  const { place, env, before } = await killed();
  const files = filesIn(place);
  const next = await serve(place, env);
  const session = await open(next);
  const [one, two] = [watch(session), watch(await open(next))];
  await expect.poll(() => [one.text, two.text]).toEqual([before, before]);
  expect([session.writer, session.interrupted]).toEqual(["none", true]);
  const late = watch(session);
  await expect.poll(() => late.text).toBe(before);
  expect(filesIn(place)).toEqual(files);
  for (const seen of [one, two, late]) seen.stop();
});

test("nothing that was shown of a fast answer is missing after the kill", async () => {
  const place = newPlace();
  const { env } = await stalledAfter(
    [{ output: [{ message: "all of it ".repeat(20_000) }] }],
    "all of it ".repeat(15_000),
  );
  const server = await serve(place, env);
  const session = await open(server);
  const seen = watch(session);
  session
    .send("go")
    .result()
    .catch(() => undefined);
  await expect.poll(() => seen.text.length, { interval: 1 }).toBeGreaterThan(1000);
  server.child.kill("SIGKILL");
  await server.exited;
  const before = seen.text;
  seen.stop();
  await session.close();
  const after = watch(await open(await serve(place, env)));
  await expect.poll(() => after.text.length).toBeGreaterThanOrEqual(before.length);
  expect(after.text.startsWith(before)).toBe(true);
  after.stop();
});

test("a viewer that opens the files itself sees the same, and writes nothing", async () => {
  const { place, before } = await killed();
  const files = filesIn(place);
  const agent = createAgent({ model: emulator() });
  const session = await agent.open({ id: "s1", store: fileStore(folderOf(place)), mode: "read" });
  const seen = watch(session);
  await expect.poll(() => seen.text).toBe(before);
  expect(session.writer).toBe("none");
  expect(filesIn(place)).toEqual(files);
  seen.stop();
  await session.close();
});

test("a server that holds the session for another reason still shows it, and says that nothing is generated", async () => {
  const { place, env, before } = await killed();
  const next = await serve(place, env);
  const session = await open(next);
  await session.rename("Another title"); // the session is now held for writing, and its turn is still open
  const viewer = await open(next);
  const seen = watch(viewer);
  await expect.poll(() => seen.text).toBe(before);
  expect([viewer.writer, viewer.interrupted]).toEqual(["live", true]);
  seen.stop();
});

test.each(["resume", "send"] as const)("after %s nothing is doubled: the log has it once", async (how) => {
  const { place, env, before } = await killed();
  const next = await serve(place, env);
  const session = await open(next);
  const seen = watch(session);
  await expect.poll(() => seen.text).toBe(before);
  await (how === "resume" ? session.resume() : session.send("go on")).result();
  await expect.poll(() => seen.logged.at(-1)).toBe("turn_end");
  expect(seen.text).toBe("");
  const partials = ((await logsOf(place)).get("s1") ?? []).flatMap((event) =>
    event.type === "partial" ? [event.parts.join("")] : [],
  );
  expect(partials).toEqual(["Half of this"]);
  const fresh = watch(await open(next));
  await expect.poll(() => fresh.logged.at(-1)).toBe("turn_end");
  expect([fresh.text, fresh.logged.filter((type) => type === "partial")]).toEqual(["", ["partial"]]);
  for (const one of [seen, fresh]) one.stop();
});
