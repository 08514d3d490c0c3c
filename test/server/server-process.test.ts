/**
 * The server in its own process: killed in the middle of a turn and restarted, stopped with Ctrl-C, used by --server.
 */

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

import { expect, test } from "vitest";

import { connect } from "../../src/access/client/index.ts";
import { isEphemeral, type SessionEvent } from "../../src/index.ts";
import { afterTest, temporaryFolder } from "../contracts/file-fixture.ts";
import { CLI } from "../support/built.ts";
import { ownPort } from "../support/own-port.ts";
import { flood, HINT, rawServer, SWITCH } from "../support/raw-server.ts";
import { stalledAfter } from "../tui/screen-harness.ts";
import { followUntil } from "./server-fixture.ts";

const TOKEN = "0123456789abcdef0123456789abcdef";

interface Started {
  readonly child: ChildProcess;
  readonly port: number;
  readonly exited: Promise<number | null>;
}

async function start(
  home: string,
  env: Readonly<Record<string, string>> = {},
  port?: number,
): Promise<Started> {
  const args = ["serve", "--port", String(port ?? (await ownPort())), "--permissions", "auto"];
  const child = spawn(process.execPath, [CLI, ...args], {
    cwd: home,
    env: { PATH: process.env["PATH"], HOME: home, THROUGHLINE_HOME: home, THROUGHLINE_TOKEN: TOKEN, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = new Promise<number | null>((resolve) => void child.on("exit", (code) => resolve(code)));
  afterTest(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  let text = "";
  for await (const chunk of child.stdout) {
    text += String(chunk);
    if (text.includes("\n")) break;
  }
  return { child, exited, port: Number(/:(\d+)\//.exec(text)?.[1]) };
}

/** A turn that does not end by itself, and two that do. */
const ANSWER = { output: [{ reasoning: ["**Choosing**\n\nOne of many."] }, { message: "It is done." }] };
const stalledTurn = () => stalledAfter([ANSWER, ANSWER, ANSWER], "One of");

const isTurnEnd = (event: SessionEvent): boolean => event.type === "turn_end";
const seqs = (events: readonly SessionEvent[]): readonly number[] =>
  events.flatMap((event) => (isEphemeral(event) ? [] : [event.seq]));

test("a server killed in the middle of a turn and restarted: the client keeps following, and the turn can be finished", async () => {
  const home = temporaryFolder();
  const { env } = await stalledTurn();
  const first = await start(home, env);
  const remote = await connect(`http://127.0.0.1:${first.port}`, { token: TOKEN });
  const session = await remote.open({ id: "s1" });
  let ends = 0;
  const following = followUntil(session, (event) => isTurnEnd(event) && (ends += 1) === 2);
  const turn = session.send("Hello");
  await followUntil(session, (event) => event.type === "reasoning_delta");
  first.child.kill("SIGKILL");
  await first.exited;
  await expect.poll(() => session.connection).toBe("lost");
  await start(home, env, first.port);
  expect((await turn.result()).status).toBe("interrupted");
  await expect.poll(() => session.connection).toBe("open");
  await expect.poll(() => session.interrupted).toBe(true);
  expect(session.writer).toBe("none");
  expect((await session.resume().result()).status).toBe("completed");
  expect((await session.send("And again").result()).status).toBe("completed");
  const seen = await following;
  expect(seqs(seen)).toEqual(seqs(seen).map((_, index) => index));
  expect(seen.filter(isTurnEnd)).toMatchObject([{ status: "completed" }, { status: "completed" }]);
});

test("Ctrl-C in the middle of a turn cancels and keeps it, and the process exits cleanly", async () => {
  const home = temporaryFolder();
  const { env } = await stalledTurn();
  const { child, exited, port } = await start(home, env);
  const session = await (await connect(`http://127.0.0.1:${port}`, { token: TOKEN })).open({ id: "s1" });
  session
    .send("Hello")
    .result()
    .catch(() => undefined);
  await followUntil(session, (event) => event.type === "reasoning_delta");
  child.kill("SIGINT");
  expect(await exited).toBe(0);
  const { fileStore } = await import("../../src/index.ts");
  const log = await fileStore(join(home, "sessions")).open("s1", { mode: "read" });
  await log.close();
  expect(log.events.at(-1)).toMatchObject({ type: "turn_end", status: "cancelled" });
});

test("a provider switches protocols, then floods with 1xx: the turn fails, and Ctrl-C ends the next one", async () => {
  const home = temporaryFolder();
  const provider = await rawServer((socket, nth) => {
    if (nth === 1) socket.write(SWITCH);
    else flood(socket, HINT);
  });
  const { child, exited, port } = await start(home, {
    OPENAI_BASE_URL: `${provider.origin}/v1`,
    OPENAI_API_KEY: "sk-test",
    THROUGHLINE_MODEL: "openai/emu-reasoner",
  });
  const session = await (await connect(`http://127.0.0.1:${port}`, { token: TOKEN })).open({ id: "s1" });
  expect(await session.send("Hello").result()).toMatchObject({
    status: "failed",
    error: { code: "bad_response" },
  });
  session
    .send("Hello again")
    .result()
    .catch(() => undefined);
  await expect.poll(() => provider.requests()).toBe(2);
  child.kill("SIGINT");
  expect(await exited).toBe(0);
  const { fileStore } = await import("../../src/index.ts");
  const log = await fileStore(join(home, "sessions")).open("s1", { mode: "read" });
  await log.close();
  expect(log.events.flatMap((event) => (event.type === "turn_end" ? [event.status] : []))).toEqual([
    "failed",
    "cancelled",
  ]);
});

test("--server gives an answer and the list with a token, and without one says what is missing", async () => {
  const home = temporaryFolder();
  const { port } = await start(home);
  const url = `http://127.0.0.1:${port}`;
  const run = async (
    args: readonly string[],
    token: string,
  ): Promise<{ readonly stdout: string; readonly stderr: string; readonly code: number }> => {
    try {
      const env = {
        PATH: process.env["PATH"],
        HOME: home,
        THROUGHLINE_HOME: join(home, "other"),
        THROUGHLINE_TOKEN: token,
      };
      const running = promisify(execFile)(process.execPath, [CLI, ...args], { env, cwd: home });
      running.child.stdin?.end(); // piped input would become part of the prompt
      return { ...(await running), code: 0 };
    } catch (error) {
      return error as { readonly stdout: string; readonly stderr: string; readonly code: number };
    }
  };
  const answered = await run(["run", "Hello", "--server", url], TOKEN);
  expect([answered.code, answered.stdout.trim() === ""]).toEqual([0, false]);
  const json = await run(["run", "--json", "And again", "-c", "--server", url], TOKEN);
  const lines = json.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { readonly type: string });
  expect([lines[0]?.type, lines.at(-1)]).toEqual([
    "session",
    expect.objectContaining({ type: "result", status: "completed" }),
  ]);
  const listed = await run(["sessions", "list", "--json", "--server", url], TOKEN);
  expect(JSON.parse(listed.stdout)).toMatchObject([{ title: "Hello", turns: 2 }]);
  const refused = await run(["run", "Hello", "--server", url], "");
  expect([refused.code, refused.stdout]).toEqual([2, ""]);
  expect(refused.stderr).toContain("[unauthorized]");
  const nobody = await run(["run", "Hello", "--server", `http://127.0.0.1:${await ownPort()}`], TOKEN);
  expect(nobody.stderr).toContain("[server_unreachable]");
  expect((await run(["run", "Hello", "--server", "nonsense"], TOKEN)).stderr).toContain(
    "[server_url_invalid]",
  );
});

test("an address that others can reach needs --expose", async () => {
  const home = temporaryFolder();
  const env = { PATH: process.env["PATH"], HOME: home, THROUGHLINE_HOME: home, THROUGHLINE_TOKEN: TOKEN };
  for (const address of ["0.0.0.0", "::", "192.0.2.1", "127.0.0.1.evil.example"]) {
    const run = promisify(execFile)(process.execPath, [CLI, "serve", "--port", "0", "--host", address], {
      env,
    });
    const error = (await run.catch((failed: unknown) => failed)) as {
      readonly code: number;
      readonly stderr: string;
    };
    expect([address, error.code]).toEqual([address, 2]);
    expect(error.stderr).toMatch(/--expose.*\[host_not_loopback\]|\[host_not_loopback\].*--expose/s);
  }
  const child = spawn(process.execPath, [CLI, "serve", "--port", "0", "--host", "0.0.0.0", "--expose"], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  afterTest(() => void child.kill("SIGKILL"));
  let told = "";
  for await (const chunk of child.stderr) {
    told += String(chunk);
    if (told.includes("\n")) break;
  }
  expect(told).toContain("can be reached from other machines, without encryption");
});
