/** `throughline proxy` as a server: what it prints, whom it serves, and how it ends. */

import { EventEmitter, once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { request } from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { describe, expect, test } from "vitest";

import { ownPort } from "../support/own-port.ts";
import { emulatorOf, expectProblem, KEY, newPlace, type Place, run, serverOf, treeOf } from "./harness.ts";
import {
  CERTIFICATE,
  CERTIFICATE_KEY,
  lossyTurns,
  post,
  proxying,
  proxyOf,
  stopped,
  UNANSWERED_CALL,
} from "./proxy-fixture.ts";

const TOKEN = "0123456789abcdef0123456789abcdef";
const TIME = String.raw`\d\d:\d\d:\d\d`;

describe("a proxy that runs", () => {
  test("prints its base URL alone to stdout, puts back what a client lost, and ends with 0 on Ctrl-C", async () => {
    const place = newPlace();
    const { emulator, proxy } = await proxyOf(place);
    expect(proxy.out).toMatch(/^http:\/\/127\.0\.0\.1:\d+\n$/);
    expect(proxy.err).toContain(`  ${proxy.url}  in place of  ${emulator.url}\n`);
    expect(proxy.err).toContain("Throughline proxy, mode repair. Press Ctrl-C to stop.\n");
    expect(proxy.err).toContain(`  ledger: ${join(place.home, "proxy", "ledger")}\n`);

    const turns = await lossyTurns(proxy.url, "rivers");
    expect(turns.map(({ status, told }) => [status, told])).toEqual([
      [200, "passed"],
      [200, "restored=1"],
    ]);
    expect(emulator.report().totals).toMatchObject({ refused: 0, recall: 1 });
    await post(proxy.url, UNANSWERED_CALL);
    await post(proxy.url, "no JSON");
    await proxy.seen(({ err }) => err.includes("not read"), "its last line");
    const lines = proxy.err.split("\n").filter((line) => line.endsWith(" ms"));
    for (const [index, words] of [
      "upstream/responses emu-reasoner 200 passed",
      String.raw`upstream/responses emu-reasoner 200 put back 1 \(was 0 of 1, now 1 of 1\)`,
      String.raw`upstream/responses emu-reasoner 200 healed after 1 refusal \(TOOLPAIR: .+\)`,
      "upstream/responses - 400 not read: the body is not a JSON request with a history",
    ].entries())
      expect(lines[index]).toMatch(new RegExp(String.raw`^${TIME} ${words} \d+ ms$`));
    expect(lines).toHaveLength(4);

    proxy.kill("SIGINT");
    expect(await proxy.ended).toMatchObject({ code: 0, signal: null, out: `${proxy.url}\n` });
    await expect(fetch(proxy.url)).rejects.toThrow();
  });

  test("remembers what it saw before it was stopped", async () => {
    const place = newPlace();
    const { emulator, proxy } = await proxyOf(place);
    const question = { role: "user", content: "Think of a number. The topic is lakes." };
    const head = { model: "emu-reasoner", store: false, include: ["reasoning.encrypted_content"] };
    const first = await post(proxy.url, { ...head, input: [question] });
    await stopped(proxy, "SIGTERM");
    const { output } = JSON.parse(first.text) as { output: readonly { type: string }[] };
    const kept = output.filter(({ type }) => type !== "reasoning");
    const again = await proxying(place, ["--to", `${emulator.url}/v1`]);
    const body = { ...head, input: [question, ...kept, { role: "user", content: "Which?" }] };
    expect(await post(again.url, body)).toMatchObject({ status: 200, told: "restored=1" });
  });

  test.for([
    ["SIGTERM", 0],
    ["SIGHUP", 129],
  ] as const)("%s ends it with %d", async ([signal, code]) => {
    const { proxy } = await proxyOf(newPlace());
    proxy.kill(signal);
    expect(await proxy.ended).toMatchObject({ code, signal: null });
  });

  test("the first Ctrl-C lets an answer end, and takes no further request", async () => {
    const { proxy } = await proxyOf(newPlace(), [], { paceMs: 10 });
    const body = { model: "emu-reasoner", store: false, stream: true, input: "Hello" };
    const answer = await fetch(`${proxy.url}/v1/responses`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${KEY}` },
      body: JSON.stringify(body),
    });
    const reader = answer.body?.getReader();
    const begin = await reader?.read();
    proxy.kill("SIGINT");
    await proxy.seen(({ err }) => err.includes("stopping"), "that it stops");
    await expect(fetch(proxy.url)).rejects.toThrow();
    let rest = Buffer.from(begin?.value ?? []).toString("utf8");
    for (let next = await reader?.read(); next?.done === false; next = await reader?.read())
      rest += Buffer.from(next.value).toString("utf8");
    expect(rest).toContain("response.completed");
    expect(await proxy.ended).toMatchObject({ code: 0 });
  });

  test("the second Ctrl-C ends it at once", async () => {
    const seen = new EventEmitter();
    const asked = once(seen, "request");
    const upstream = await serverOf(() => seen.emit("request")); // never answers
    const proxy = await proxying(newPlace(), ["--to", upstream]);
    const cut = post(proxy.url, UNANSWERED_CALL).catch(() => "cut");
    await asked;
    proxy.kill("SIGINT");
    await proxy.seen(({ err }) => err.includes("stopping"), "that it stops");
    proxy.kill("SIGINT");
    expect((await proxy.ended).code).toBe(130);
    expect(await cut).toBe("cut");
  });

  test("goes on when nobody reads its messages", async () => {
    const { proxy } = await proxyOf(newPlace());
    proxy.child.stderr.destroy();
    await lossyTurns(proxy.url, "silence");
    const [, second] = await lossyTurns(proxy.url, "more silence");
    expect(second).toMatchObject({ status: 200, told: "restored=1" });
  });

  test("shows nothing that a terminal would act on", async () => {
    const { proxy } = await proxyOf(newPlace());
    await post(proxy.url, { model: "emu-\u001B[31mred\u009B", store: false, input: "Hello" });
    await proxy.seen(({ err }) => err.includes("red"), "the line");
    // oxlint-disable-next-line no-control-regex -- control characters are what must not be there
    expect(proxy.err).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/);
  });
});

describe("flags", () => {
  test("--observe changes nothing and says what it would put back", async () => {
    const { emulator, proxy } = await proxyOf(newPlace(), ["--observe"]);
    const [, second] = await lossyTurns(proxy.url, "rivers");
    // The answer has an id, which the strict API takes only with the thought before it.
    expect(second).toMatchObject({ status: 400, told: "observed" });
    expect(emulator.report().totals).toMatchObject({ requests: 2, refused: 1 });
    const line = "400 observed: would put back 1 (is 0 of 1), refused by the provider (PAIR: ";
    await proxy.seen(({ err }) => err.includes(line), "its line");
    const refused = await post(proxy.url, UNANSWERED_CALL);
    expect(refused).toMatchObject({ status: 400, told: "observed" });
    await proxy.seen(({ err }) => err.includes("400 refused by the provider (TOOLPAIR: "), "the refusal");
  });

  test("--strict refuses what lost something", async () => {
    const { proxy } = await proxyOf(newPlace(), ["--strict"]);
    const [, second] = await lossyTurns(proxy.url, "rivers");
    expect(second?.status).toBe(400);
    expect(second?.text).toContain("throughline_strict");
    await proxy.seen(({ err }) => /emu-reasoner 400 refused: .+ \d+ ms\n/.test(err), "its line");
  });

  test("--quiet logs no request, and --no-headers marks no answer", async () => {
    const { proxy } = await proxyOf(newPlace(), ["--quiet", "--no-headers"]);
    const turns = await lossyTurns(proxy.url, "rivers");
    expect(turns.map(({ told }) => told)).toEqual([null, null]);
    await stopped(proxy);
    expect(proxy.err).not.toContain(" ms\n");
  });

  test("--ledger, --days and --max-bytes are taken, with sizes as people write them", async () => {
    const place = newPlace();
    const folder = join(place.work, "deep", "ledger");
    const { proxy } = await proxyOf(place, [
      "--ledger",
      "deep/ledger",
      "--days",
      "7",
      "--max-bytes",
      "500MiB",
    ]);
    await lossyTurns(proxy.url, "rivers");
    expect(treeOf(folder).length).toBeGreaterThan(0);
    expect(treeOf(place.home)).toEqual([]);
  });

  test.for(["variable", "file"])(
    "with a token in a %s, nobody else is served, and it is nowhere to be read",
    async (where) => {
      const place = newPlace();
      const { emulator } = await emulatorOf({ paceMs: 0 });
      const args = where === "file" ? ["--token-file", place.write("token", `${TOKEN}\n`)] : [];
      const env = where === "file" ? undefined : { THROUGHLINE_PROXY_TOKEN: TOKEN };
      const proxy = await proxying(
        place,
        ["--to", emulator.url, "--host", "0.0.0.0", "--expose", ...args],
        env === undefined ? {} : { env },
      );
      const base = proxy.url.replace("0.0.0.0", "127.0.0.1");
      expect(await post(base, UNANSWERED_CALL)).toMatchObject({ status: 401 });
      expect(await post(`${base}/t/${TOKEN}x`, UNANSWERED_CALL)).toMatchObject({ status: 401 });
      expect(await post(`${base}/t/${TOKEN}`, UNANSWERED_CALL)).toMatchObject({ status: 200 });
      expect(await post(base, UNANSWERED_CALL, { "x-throughline-token": TOKEN })).toMatchObject({
        status: 200,
      });
      expect(proxy.err).toContain("can be reached from other machines, without encryption");
      await stopped(proxy);
      const files = treeOf(join(place.home, "proxy")).filter((file) => /\.jsonl$|secret$/.test(file));
      expect(files.length).toBeGreaterThan(1);
      const written = [proxy.out, proxy.err, ...files.map((file) => readFileSync(file, "utf8"))].join("\n");
      for (const secret of [TOKEN, KEY]) expect(written).not.toContain(secret);
    },
  );

  test("--tls-cert and --tls-key make it speak TLS", async () => {
    const place = newPlace();
    const files = [
      "--tls-cert",
      place.write("c.pem", CERTIFICATE),
      "--tls-key",
      place.write("k.pem", CERTIFICATE_KEY),
    ];
    const { proxy } = await proxyOf(place, files);
    expect(proxy.url).toMatch(/^https:/);
    const sent = request(`${proxy.url}/__throughline/health`, { rejectUnauthorized: false });
    sent.end();
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    expect(JSON.parse(await text(answer))).toEqual({ status: "ok", mode: "repair" });
  });

  test("--allow-host and --allow-origin let another name and another page in", async () => {
    const origin = "http://localhost:3000";
    const { proxy } = await proxyOf(newPlace(), ["--allow-origin", origin, "--allow-host", "proxy.example"]);
    const status = (headers: Readonly<Record<string, string>>): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const sent = get(`${proxy.url}/__throughline/health`, { headers }, (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        });
        sent.on("error", reject);
      });
    expect(await status({ origin })).toBe(200);
    expect(await status({ origin: "http://localhost:3001" })).toBe(403);
    expect(await status({ host: "proxy.example" })).toBe(200);
    expect(await status({ host: "evil.example" })).toBe(421);
  });
});

const namesOf = async (url: string): Promise<readonly string[]> => {
  const answer = await (await fetch(`${url}/nowhere`)).text();
  return [...answer.matchAll(/ \/([a-z-]+)(?=[,"])/g)].map(([, name = ""]) => name);
};

describe("routes", () => {
  const NAMES =
    "openai anthropic openrouter xai deepseek groq mistral moonshot zai qwen minimax cerebras together fireworks ollama llamacpp lmstudio vllm litellm chatgpt".split(
      " ",
    );

  test("all providers are known by name, each by the origin of its host", async () => {
    const proxy = await proxying(newPlace(), []);
    expect(await namesOf(proxy.url)).toEqual(NAMES);
    expect(proxy.err).toMatch(/ {2}http:\S+\/openai +in place of {2}https:\/\/api\.openai\.com\n/);
    expect(proxy.err).toMatch(/ {2}http:\S+\/groq +in place of {2}https:\/\/api\.groq\.com\n/);
    expect(proxy.err).toMatch(/ {2}http:\S+\/chatgpt +in place of {2}https:\/\/chatgpt\.com\n/);
  });

  test("--route and the user's own providers add names, and the rest of an address stays", async () => {
    const place = newPlace();
    const { emulator } = await emulatorOf({ paceMs: 0 });
    mkdirSync(place.home);
    const mine = { dialect: "openai-responses", baseUrl: `${emulator.url}/v1` };
    writeFileSync(join(place.home, "config.json"), JSON.stringify({ providers: { mine } }));
    const proxy = await proxying(place, ["--route", `gate=${emulator.url}/v1,profile=openai`]);
    expect(await namesOf(proxy.url)).toEqual([...NAMES, "mine", "gate"]);
    for (const name of ["mine", "gate"]) {
      const [, second] = await lossyTurns(`${proxy.url}/${name}`, name);
      expect(second).toMatchObject({ status: 200, told: "restored=1" });
    }
    await proxy.seen(({ err }) => err.includes(" gate/responses emu-reasoner 200 put back 1"), "its line");
  });

  test("a variable may lead a route elsewhere, but never back to the proxy", async () => {
    const port = await ownPort();
    const { emulator } = await emulatorOf({ paceMs: 0 });
    const env = {
      OPENAI_BASE_URL: `http://localhost:${port}/v1`,
      ANTHROPIC_BASE_URL: "http://127.0.0.1:4321/anthropic",
      DEEPSEEK_BASE_URL: "https://me:hunter2@gate.example/v1",
      OLLAMA_BASE_URL: `${emulator.url}/v1`,
      AZURE_OPENAI_BASE_URL: "https://me.openai.azure.com/openai/v1",
    };
    const proxy = await proxying(newPlace(), ["--port", String(port)], { env });
    const leadsTo = (name: string): string | undefined =>
      new RegExp(String.raw` {2}http:\S+/${name} +in place of {2}(\S+)\n`).exec(proxy.err)?.[1];
    expect(["openai", "anthropic", "deepseek", "ollama", "azure"].map(leadsTo)).toEqual([
      "https://api.openai.com",
      "https://api.anthropic.com",
      "https://api.deepseek.com",
      emulator.url,
      "https://me.openai.azure.com",
    ]);
    expect(proxy.err).toContain(
      "note: OPENAI_BASE_URL is the address of a proxy, so the route leads to https://api.openai.com\n",
    );
    expect(proxy.err).toContain("note: ANTHROPIC_BASE_URL is the address of a proxy");
    expect(proxy.err).toContain("note: DEEPSEEK_BASE_URL holds a user name or password");
    expect(proxy.err).not.toContain("hunter2");
  });
});

function settled(place: Place, proxy: object): void {
  mkdirSync(place.home, { recursive: true });
  writeFileSync(join(place.home, "config.json"), JSON.stringify({ proxy }));
}

describe("the setting proxy", () => {
  test("says what the proxy does, and flags win", async () => {
    const place = newPlace();
    const { emulator } = await emulatorOf({ paceMs: 0 });
    const ledger = join(place.work, "own");
    settled(place, {
      mode: "observe",
      to: emulator.url,
      routes: { other: emulator.url },
      ledger,
      days: 3,
      maxBytes: 1_000_000,
    });
    const proxy = await proxying(place, []);
    expect(proxy.err).toContain("mode observe");
    expect(proxy.err).toContain(`ledger: ${ledger}\n`);
    expect(proxy.err).toContain(`${proxy.url}        in place of  ${emulator.url}\n`);
    expect(await post(`${proxy.url}/other`, UNANSWERED_CALL)).toMatchObject({ told: "observed" });
    await stopped(proxy);
    const strict = await proxying(place, [
      "--strict",
      "--to",
      "http://127.0.0.1:9",
      "--ledger",
      join(place.work, "flag"),
    ]);
    expect(strict.err).toContain("mode strict");
    expect(strict.err).toContain("in place of  http://127.0.0.1:9\n");
    expect(strict.err).toContain(`ledger: ${join(place.work, "flag")}\n`);
  });

  test("a project cannot set it, nor a provider for it", async () => {
    const place = newPlace();
    mkdirSync(join(place.work, ".throughline"));
    const evil = { dialect: "openai-responses", baseUrl: "http://127.0.0.1:9/v1" };
    place.write(
      ".throughline/config.json",
      JSON.stringify({ proxy: { to: "http://127.0.0.1:9", mode: "observe" }, providers: { evil } }),
    );
    expect(await run(place, ["config", "trust"])).toMatchObject({ code: 0 });
    const proxy = await proxying(place, []);
    expect(proxy.err).toContain("mode repair");
    expect(proxy.err).not.toContain("127.0.0.1:9\n");
    const set = await run(place, ["config", "set", "--project", "proxy.mode", "observe"]);
    expectProblem(set, 2, "usage");
  });
});
