/** Servers that people use, from npm, over standard input and output and over HTTP, in sessions against a strict emulator. */

import { spawn } from "node:child_process";
import { realpathSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { describe, expect, test } from "vitest";

import type { McpServerConfig, SessionEvent } from "../../src/index.ts";
import { temporaryFolder } from "../contracts/file-fixture.ts";
import { call, eventsOf, ofType, say } from "../contracts/session-fixture.ts";
import { afterTest } from "../support/clean-up.ts";
import { ownPort } from "../support/own-port.ts";
import { refusals, ROOT, source, stdio, talk } from "./fixture.ts";

const program = (path: string): string => join(ROOT, "node_modules", path);
const EVERYTHING = program("@modelcontextprotocol/server-everything/dist/index.js");
const FILES = program("@modelcontextprotocol/server-filesystem/dist/index.js");
const MEMORY = program("@modelcontextprotocol/server-memory/dist/index.js");
const FETCH = program("mcp-fetch-server/dist/index.js");

const overStdio = async (args: readonly string[]): Promise<McpServerConfig> => ({
  command: process.execPath,
  args,
});

/** Starts a program and resolves when it has written a line like this. */
function started(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  line: RegExp,
): Promise<string> {
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  afterTest(
    () =>
      new Promise<void>((done) => {
        child.once("close", () => done());
        child.kill("SIGKILL");
      }),
  );
  return new Promise((resolve, reject) => {
    for (const input of [child.stdout, child.stderr])
      createInterface({ input }).on("line", (said) => line.test(said) && resolve(said));
    child.once("exit", (code) => reject(new Error(`it ended with ${code}`)));
  });
}

async function overHttp(args: readonly string[]): Promise<McpServerConfig> {
  if (args[0] === EVERYTHING) {
    const port = await ownPort();
    await started([EVERYTHING, "streamableHttp"], { PORT: String(port) }, /listening/i);
    return { url: `http://127.0.0.1:${port}/mcp` };
  }
  const bridge = join(import.meta.dirname, "servers", "http-bridge.mjs");
  const said = await started([bridge, process.execPath, ...args], {}, /^listening/);
  return { url: `http://127.0.0.1:${said.split(" ")[1]}/mcp` };
}

interface Played {
  readonly results: readonly {
    readonly status: string;
    readonly text: string;
    readonly parts?: readonly object[] | undefined;
  }[];
  readonly events: readonly SessionEvent[];
  readonly names: readonly string[];
}

/** One turn in which the model makes these calls, one after the other. */
async function play(server: McpServerConfig, calls: readonly (readonly [string, object])[]): Promise<Played> {
  const tools = source({ it: server });
  const script = [
    ...calls.map(([name, input]) => ({ output: [call(name, input)] })),
    { output: [say("done")] },
  ];
  const { session, emulator } = await talk(script, [tools]);
  const events = await eventsOf(session.send("go"));
  expect(tools.servers[0]).toMatchObject({ state: "connected" });
  expect(refusals(emulator)).toEqual([]);
  expect(ofType(events, "turn_end").map(({ status }) => status)).toEqual(["completed"]);
  return { results: ofType(events, "tool_result"), events, names: tools.tools.map(({ name }) => name) };
}

describe.each([
  ["standard input and output", overStdio],
  ["HTTP", overHttp],
])("over %s", (_name, reach) => {
  test("server-everything: text, image, progress, resources, structured content, an error", async () => {
    const { results, events, names } = await play(await reach([EVERYTHING]), [
      ["mcp__it__echo", { message: "hello" }],
      ["mcp__it__get-tiny-image", {}],
      ["mcp__it__trigger-long-running-operation", { duration: 1, steps: 4 }],
      ["mcp__it__get-structured-content", { location: "Chicago" }],
      ["mcp__it__get-resource-links", { count: 2 }],
      ["mcp_list_resources", {}],
      ["mcp__it__get-resource-reference", { resourceType: "Text", resourceId: -1 }],
    ]);
    expect(names.length).toBeGreaterThan(10);
    expect(results.map(({ status }) => status)).toEqual(["ok", "ok", "ok", "ok", "ok", "ok", "error"]);
    expect(results[0]?.text).toContain("hello");
    expect(results[1]?.text).toContain("[image image/png");
    expect(results[1]?.parts).toMatchObject([{ type: "image", mediaType: "image/png" }]);
    expect(ofType(events, "tool_progress").length).toBeGreaterThan(0);
    expect(results[4]?.text).toContain("[resource ");
    expect(results[5]?.text).toMatch(/^it\t/);
  });

  test("server-filesystem: reads and lists a folder, and refuses what is outside", async () => {
    const folder = realpathSync(temporaryFolder());
    writeFileSync(join(folder, "note.txt"), "a note");
    const { results } = await play(await reach([FILES, folder]), [
      ["mcp__it__read_text_file", { path: join(folder, "note.txt") }],
      ["mcp__it__list_directory", { path: folder }],
      ["mcp__it__read_text_file", { path: "/etc/hostname" }],
    ]);
    expect(results.map(({ status }) => status)).toEqual(["ok", "ok", "error"]);
    expect(results[0]?.text).toContain("a note");
    expect(results[1]?.text).toContain("note.txt");
  });

  test("server-memory: keeps what it is told", async () => {
    const entity = { name: "Ada", entityType: "person", observations: ["wrote the first program"] };
    const folder = temporaryFolder();
    const env = { MEMORY_FILE_PATH: join(folder, "memory.jsonl") };
    const wrapped = [
      "-e",
      `process.env.MEMORY_FILE_PATH=${JSON.stringify(env.MEMORY_FILE_PATH)};import(${JSON.stringify(MEMORY)})`,
    ];
    const { results } = await play(await reach(wrapped), [
      ["mcp__it__create_entities", { entities: [entity] }],
      ["mcp__it__search_nodes", { query: "Ada" }],
    ]);
    expect(results.map(({ status }) => status)).toEqual(["ok", "ok"]);
    expect(results[1]?.text).toContain("wrote the first program");
  });

  test("mcp-fetch-server: is called, and its error reaches the model", async () => {
    const web = createServer((_request, response) => response.end("<p>a page</p>"));
    await new Promise<void>((done) => web.listen(0, "127.0.0.1", done));
    afterTest(() => new Promise((done) => web.close(done)));
    const { port } = web.address() as AddressInfo;
    const { results } = await play(await reach([FETCH]), [
      ["mcp__it__fetch_txt", { url: `http://127.0.0.1:${port}/` }],
      ["mcp__it__fetch_txt", { url: "http://127.0.0.1:9/" }],
    ]);
    // It may refuse addresses of this machine; whichever it does, it answers.
    expect(results.map(({ status }) => status)).toEqual([expect.stringMatching(/^(?:ok|error)$/), "error"]);
  });
});

describe("a modern server made with the official package", () => {
  const GREETING = "hello from a modern server";

  test("over standard input and output", async () => {
    const { results, events } = await play(stdio("modern-server.mjs"), [["mcp__it__greet", {}]]);
    expect(results).toMatchObject([{ status: "ok", text: GREETING }]);
    expect(ofType(events, "settings")[0]?.settings.serverInstructions).toEqual([
      { server: "it", text: "Be modern." },
    ]);
  });

  test("over HTTP", async () => {
    const handler = createMcpHandler(() => {
      const server = new McpServer({ name: "modern", version: "1" });
      server.registerTool("greet", { description: "Greets." }, async () => ({
        content: [{ type: "text", text: GREETING }],
      }));
      return server;
    });
    const tools = source(
      { it: { url: "http://127.0.0.1/mcp" } },
      { fetch: (url, init) => handler.fetch(new Request(url, init)) },
    );
    const script = [{ output: [call("mcp__it__greet", {})] }, { output: [say("done")] }];
    const { session } = await talk(script, [tools]);
    const results = ofType(await eventsOf(session.send("go")), "tool_result");
    expect(results).toMatchObject([{ status: "ok", text: GREETING }]);
    expect(tools.servers[0]).toMatchObject({ era: "modern" });
  });
});
