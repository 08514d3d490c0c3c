import { subscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";

import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { startEmulator } from "../../src/emulator/index.ts";
import { createAgent, emulator } from "../../src/index.ts";
import { practiceTools } from "../support/practice-tools.ts";

beforeEach(() => {
  for (const name of ["OPENAI_API_KEY", "OPENAI_BASE_URL"]) vi.stubEnv(name, undefined);
});
afterEach(() => vi.unstubAllEnvs());

test("law 10: a whole conversation works with no key and no network, and the emulator says what it is", async () => {
  const reached = watchConnections();
  const model = emulator();
  const agent = createAgent({ model, tools: practiceTools({ began: () => undefined }) });
  const session = await agent.open({ id: "s" });
  const first = await session.send("What is the weather in Rome and Lima?").result();
  await session.send("Think of a number.").result();
  const recalled = await session.send("Which number did you think of?").result();
  const asked = await session.send("Are you real?").result();
  await session.close();
  expect([first.status, recalled.status, asked.status]).toEqual(["completed", "completed", "completed"]);
  expect(recalled.text).toMatch(/I thought of \d+/);
  expect(model.label).toBe("emulator/emu-reasoner");
  expect(model.settings.target.provider).toBe("emulator");
  expect(first.text).toMatch(/emulator/i);
  expect(asked.text).toMatch(/emulator/i);
  expect(reached().filter((host) => host !== "127.0.0.1")).toEqual([]);
  expect(reached()).not.toEqual([]);
});

test("law 10: every emulator response carries the emulator's name, even a refusal or a fault", async () => {
  const server = await startEmulator({ faults: [{ type: "http", status: 500 }] });
  try {
    const ask = (body: string): Promise<Response> =>
      fetch(`${server.baseUrl}/responses`, {
        method: "POST",
        headers: { authorization: "Bearer anything", "content-type": "application/json" },
        body,
      });
    const answers = [
      await ask('{"model":"emu-reasoner","input":"Hello"}'),
      await ask('{"model":"emu-reasoner","input":"Hello"}'),
      await ask("not json"),
      await fetch(`${server.url}/nowhere`, { headers: { authorization: "Bearer anything" } }),
      await fetch(`${server.url}/nowhere`),
    ];
    expect(answers.map((answer) => [answer.status, answer.headers.get("x-emulator")])).toEqual([
      [500, "throughline"],
      [200, "throughline"],
      [400, "throughline"],
      [404, "throughline"],
      [401, "throughline"],
    ]);
    await Promise.all(answers.map((answer) => answer.text()));
    expect(server.report().emulator).toBe("throughline");
  } finally {
    await server.close();
  }
});

/** Records every address this process connects to after the call. */
function watchConnections(): () => readonly string[] {
  const hosts: string[] = [];
  const note = (message: unknown): void => {
    const { socket } = message as { readonly socket: Socket };
    socket.once("connect", () => hosts.push(socket.remoteAddress ?? "unknown"));
  };
  subscribe("net.client.socket", note);
  return () => hosts;
}
