/** kill -9 of a server with messages that wait: the next one lists them, and runs each once or, if withdrawn, never. */

import { expect, test } from "vitest";

import { connect } from "../../src/access/client/index.ts";
import { emulatorOf, logsOf, newPlace, type Place } from "../cli/harness.ts";
import { serve, type Server, TOKEN } from "../tui/server-harness.ts";
import { followUntil } from "./server-fixture.ts";

const STALLED = { output: [{ message: "Never the end." }], faults: "stall=after-item:1" };

const messagesIn = async (place: Place): Promise<readonly string[]> =>
  ((await logsOf(place)).get("s1") ?? []).flatMap((event) =>
    event.type === "user_message" ? [JSON.stringify(event.content)] : [],
  );

const kill = async ({ child, exited }: Server): Promise<void> => {
  child.kill("SIGKILL");
  await exited;
};

test("messages that waited are listed by the next server, run once, and never after they were withdrawn", async () => {
  const place = newPlace();
  const { emulator, env } = await emulatorOf({
    steps: [STALLED, STALLED, { output: [{ message: "Done." }] }],
  });
  const server = await serve(place, env);
  const session = await (await connect(server.url, { token: TOKEN })).open({ id: "s1" });
  session
    .send("one")
    .result()
    .catch(() => undefined);
  await followUntil(session, (event) => event.type === "text_delta");
  for (const turn of ["second", "third", "fourth"]) await session.send(turn, { turn }).accepted();
  expect(await session.withdraw("third")).toBe("third");
  await kill(server); // right after the answer

  const next = await serve(place, env, Number(new URL(server.url).port));
  const after = await (await connect(next.url, { token: TOKEN })).open({ id: "s1" });
  const stop = new AbortController();
  void (async () => {
    for await (const event of after.follow({ signal: stop.signal })) void event;
  })();
  // The second message runs and is stuck, so the fourth still waits.
  await expect.poll(() => after.queued).toEqual([{ turn: "fourth", text: "fourth" }]);
  // It leaves the queue before its request is sent. A kill in between would leave its stalled step to the fourth.
  await expect.poll(() => emulator.report().requests.length).toBe(2);
  expect(await messagesIn(place)).toHaveLength(2);
  await kill(next);

  await serve(place, env, Number(new URL(server.url).port));
  const last = await connect(server.url, { token: TOKEN });
  const again = await last.open({ id: "s1" });
  const fourth = again.send("fourth", { turn: "fourth" }); // the same request, sent again
  expect(await fourth.result()).toMatchObject({ status: "completed", text: "Done." });
  expect(again.queued).toEqual([]);
  const said = await messagesIn(place);
  expect(said.map((text) => /one|second|third|fourth/.exec(text)?.[0])).toEqual(["one", "second", "fourth"]);
  stop.abort();
  await Promise.all([session.close(), after.close(), again.close()]);
});
