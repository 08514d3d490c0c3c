/** `throughline proxy -- COMMAND`: a proxy that starts and ends with a command, whose requests go through it. */

import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { afterTest } from "../support/clean-up.ts";
import {
  emulatorOf,
  expectProblem,
  KEY,
  newPlace,
  type Place,
  run,
  start,
  type StartOptions,
} from "./harness.ts";
import { onTerminal } from "./pty.ts";

const NODE = process.execPath;
const ADDRESSES = `console.log(JSON.stringify(Object.fromEntries(Object.entries(process.env).filter(([name]) => name.endsWith("_BASE_URL")))))`;

async function addresses(
  place: Place,
  flags: readonly string[],
  options: StartOptions = {},
): Promise<Readonly<Record<string, string>>> {
  const ran = await run(place, ["proxy", ...flags, "--", NODE, "-e", ADDRESSES], options);
  expect(ran).toMatchObject({ code: 0 });
  return JSON.parse(ran.out) as Record<string, string>;
}

/** Two turns of a client that loses its thought, with the address from the environment. */
const CLIENT = `
const post = async (input) => {
  const answer = await fetch(process.env.OPENAI_BASE_URL + "/responses", {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer ${KEY}" },
    body: JSON.stringify({ model: "emu-reasoner", store: false, include: ["reasoning.encrypted_content"], input }),
  });
  console.log(answer.status);
  return answer.json();
};
const question = { role: "user", content: "Think of a number." };
const { output } = await post([question]);
await post([question, ...output.filter(({ type }) => type !== "reasoning"), { role: "user", content: "Which?" }]);
await post([question, { type: "function_call", call_id: "c", name: "f", arguments: "{}" }, { role: "user", content: "Go on." }]);
process.exit(7);
`;

describe("a command with a proxy of its own", () => {
  test("has the address of every provider, with the provider's own path behind the name", async () => {
    const given = await addresses(newPlace(), []);
    const base = /^(http:\/\/127\.0\.0\.1:\d+)\/openai\/v1$/.exec(given["OPENAI_BASE_URL"] ?? "")?.[1] ?? "";
    expect(base).toMatch(/:\d+$/);
    expect(base).not.toMatch(/:4321$/); // another proxy may have it
    const paths = Object.fromEntries(
      Object.entries(given).map(([name, address]) => [name, address.replace(base, "")]),
    );
    expect(paths).toEqual({
      OPENAI_BASE_URL: "/openai/v1",
      ANTHROPIC_BASE_URL: "/anthropic",
      OPENROUTER_BASE_URL: "/openrouter/api/v1",
      XAI_BASE_URL: "/xai/v1",
      DEEPSEEK_BASE_URL: "/deepseek/v1",
      GROQ_BASE_URL: "/groq/openai/v1",
      MISTRAL_BASE_URL: "/mistral/v1",
      MOONSHOT_BASE_URL: "/moonshot/v1",
      ZAI_BASE_URL: "/zai/api/paas/v4",
      DASHSCOPE_BASE_URL: "/qwen/compatible-mode/v1",
      MINIMAX_BASE_URL: "/minimax/v1",
      CEREBRAS_BASE_URL: "/cerebras/v1",
      TOGETHER_BASE_URL: "/together/v1",
      FIREWORKS_BASE_URL: "/fireworks/inference/v1",
      OLLAMA_BASE_URL: "/ollama/v1",
      LLAMACPP_BASE_URL: "/llamacpp/v1",
      LMSTUDIO_BASE_URL: "/lmstudio/v1",
      VLLM_BASE_URL: "/vllm/v1",
      LITELLM_BASE_URL: "/litellm/v1",
    });
  });

  test("with --to has the root, with /v1 where the dialect needs it", async () => {
    const token = "0123456789abcdef0123456789abcdef";
    const given = await addresses(newPlace(), ["--to", "http://127.0.0.1:9/v1"], {
      env: { THROUGHLINE_PROXY_TOKEN: token },
    });
    expect(given["OPENAI_BASE_URL"]).toMatch(new RegExp(String.raw`^http://127\.0\.0\.1:\d+/t/${token}/v1$`));
    expect(given["ANTHROPIC_BASE_URL"]).toBe(given["OPENAI_BASE_URL"]?.replace(/\/v1$/, ""));
    expect(given["MISTRAL_BASE_URL"]).toBe(given["OPENAI_BASE_URL"]);
    const versioned = await addresses(newPlace(), ["--to", "http://127.0.0.1:9/api/v4"]);
    expect(versioned["ZAI_BASE_URL"]).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  test("keeps the path of an address that the environment gives, and goes to its host", async () => {
    const place = newPlace();
    const { emulator } = await emulatorOf({ paceMs: 0 });
    const env = { OPENAI_BASE_URL: `${emulator.url}/v1` };
    const ran = await run(place, ["proxy", "--", NODE, "--input-type=module", "-e", CLIENT], { env });
    expect(ran).toMatchObject({ code: 7, out: "200\n200\n200\n" });
    expect(emulator.report().totals.requests).toBe(4);
  });

  test("is alone on stdout, ends the proxy with its own exit code, and is summed up on stderr", async () => {
    const place = newPlace();
    const { emulator } = await emulatorOf({ paceMs: 0 });
    const args = ["proxy", "--to", emulator.url, "--", NODE, "--input-type=module", "-e", CLIENT];
    const ran = await run(place, args);
    expect(ran).toMatchObject({ code: 7, signal: null, out: "200\n200\n200\n" });
    const lines = ran.err.trimEnd().split("\n");
    expect(lines.map((line) => line.replace(/^[\d:]{8} | \d+ ms$/g, ""))).toEqual([
      "upstream/responses emu-reasoner 200 passed",
      "upstream/responses emu-reasoner 200 put back 1 (was 0 of 1, now 1 of 1)",
      expect.stringMatching(/^upstream\/responses emu-reasoner 200 healed after 1 refusal \(TOOLPAIR: .+\)$/),
      "3 requests; 1 thought put back; 1 refusal healed",
    ]);
    const quiet = await run(place, ["proxy", "--quiet", "--observe", ...args.slice(1)]);
    expect(quiet).toMatchObject({ code: 7, out: "200\n400\n400\n" });
    expect(quiet.err).toBe("3 requests; 0 thoughts put back; 0 refusals healed\n");
  });

  test("has its standard input, arguments and flags to itself", async () => {
    const place = newPlace();
    const code = `process.stdin.on("data", (text) => console.log(String(text), process.argv.slice(1).join(" ")))`;
    const args = ["proxy", "--quiet", "--", NODE, "-e", code, "--", "--port", "x", "--", "log"];
    expect(await run(place, args, { input: "typed" })).toMatchObject({
      code: 0,
      out: "typed --port x -- log\n",
    });
  });

  test("may have the name of one of the proxy's own commands", async () => {
    const place = newPlace();
    const program = place.write("log", "#!/bin/sh\necho my log $1\n");
    chmodSync(program, 0o755);
    const env = { PATH: `${place.work}:${process.env["PATH"] ?? ""}` };
    expect(await run(place, ["proxy", "--", "log", "it"], { env })).toMatchObject({
      code: 0,
      out: "my log it\n",
    });
  });
});

describe("signals", () => {
  const WAITS = `
const name = process.argv[1];
process.on(name, () => { console.log("got", name); process.exit(3); });
console.log("ready");
setInterval(() => undefined, 1000);`;

  test.for(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "%s goes to the command, which decides",
    async (signal) => {
      const running = start(newPlace(), ["proxy", "--", NODE, "-e", WAITS, signal]);
      await running.seen(({ out }) => out.includes("ready"), "its start");
      running.kill(signal);
      expect(await running.ended).toMatchObject({ code: 3, signal: null, out: `ready\ngot ${signal}\n` });
    },
  );

  test("a command that dies of a signal gives 128 and its number", async () => {
    for (const [signal, code] of [
      ["SIGTERM", 143],
      ["SIGKILL", 137],
    ] as const) {
      const ran = await run(newPlace(), [
        "proxy",
        "--",
        NODE,
        "-e",
        `process.kill(process.pid, "${signal}")`,
      ]);
      expect(ran).toMatchObject({ code, signal: null });
    }
  });

  test("on a terminal, one Ctrl-C reaches the command once, and no line of ours disturbs it", async () => {
    const place = newPlace();
    const { emulator } = await emulatorOf({ paceMs: 0 });
    place.write(
      "client.mjs",
      `let times = 0;
process.on("SIGINT", () => console.log("interrupt", (times += 1)));
let lines = 0;
process.stdin.on("data", (text) => {
  console.log("line", (lines += 1));
  if (!String(text).startsWith("end")) return;
  console.log("in all", times);
  process.exit(0);
});
const headers = { "content-type": "application/json", authorization: "Bearer ${KEY}" };
const body = JSON.stringify({ model: "emu-reasoner", input: "Hello" });
await (await fetch(process.env.OPENAI_BASE_URL + "/responses", { method: "POST", headers, body })).text();
console.log("at", process.env.OPENAI_BASE_URL);
console.log("ready");`,
    );
    const running = onTerminal(place, ["proxy", "--to", emulator.url, "--", NODE, "client.mjs"]);
    await running.shows("ready");
    running.press("\u0003");
    await running.shows("interrupt 1");
    // Two signals at once may count as one. So the proxy alone gets another, which it must keep to itself.
    process.kill(Number(/pid (\d+)/.exec(running.screen)?.[1]), "SIGINT");
    const base = /at (\S+)/.exec(running.screen)?.[1] ?? "";
    expect((await fetch(new URL("/__throughline/health", base))).status).toBe(200);
    running.type("go on");
    await running.shows("line 1");
    running.type("end");
    await running.shows("in all 1\r");
    const { code, screen } = await running.ended;
    expect(code).toBe(0);
    expect(screen).not.toContain("upstream/responses");
    expect(screen).toContain("1 request; 0 thoughts put back; 0 refusals healed");
  });
});

describe("a command that cannot run", () => {
  test.for([
    ["does not exist", "no-such-program", "there is no program no-such-program. Check its name"],
    ["may not be run", "plain.txt", "may not be run"],
  ])("because it %s is an error with a code", async ([, name = "", part = ""]) => {
    const place = newPlace();
    place.write("plain.txt", "text");
    const ran = await run(place, ["proxy", "--", name === "plain.txt" ? join(place.work, name) : name]);
    expectProblem(ran, 2, "command_failed");
    expect(ran.err).toContain(part);
  });

  test("because the proxy cannot start is not started", async () => {
    const place = newPlace();
    const taken = createServer();
    await new Promise<void>((resolve) => {
      taken.listen(0, "127.0.0.1", resolve);
    });
    afterTest(() => taken.close());
    const { port } = taken.address() as AddressInfo;
    const touch = ["--", NODE, "-e", `require("node:fs").writeFileSync("ran", "")`];
    const ran = await run(place, ["proxy", "--port", String(port), ...touch]);
    expectProblem(ran, 2, "port_in_use");
    expectProblem(await run(place, ["proxy", "--to", "nonsense", ...touch]), 2, "base_url_invalid");
    expect(existsSync(join(place.work, "ran"))).toBe(false);
    expectProblem(await run(place, ["proxy", "--"]), 2, "usage");
    expectProblem(await run(place, ["proxy", "--", ""]), 2, "usage");
  });

  test("a ledger that cannot be written is told, and the command runs", async () => {
    const place = newPlace();
    mkdirSync(place.home);
    writeFileSync(join(place.home, "proxy"), "a file where the folder should be");
    const ran = await run(place, ["proxy", "--", NODE, "-e", "console.log(1)"]);
    expect(ran).toMatchObject({ code: 0, out: "1\n" });
    expect(ran.err).toMatch(
      /^throughline: the ledger cannot be written, so the proxy remembers in memory only: /,
    );
  });
});
