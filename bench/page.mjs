/**
 * What does the page cost the browser? Opens a session of 2,000 blocks, then watches an answer that arrives in 100 deltas a
 * second. Prints the time that the main thread worked, its longest task, and the memory.
 *
 *   node --import tsx bench/page.mjs [seconds of streaming=20]
 *
 * @module
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

import { chromium } from "playwright-core";
import { build } from "vite";

import { startServer } from "../src/access/server/index.ts";
import { loadScenario, startEmulator } from "../src/emulator/index.ts";
import { createAgent, memoryStore, openai, tool } from "../src/index.ts";

const TURNS = 400;
const DELTA_MS = 10;
const seconds = Number(process.argv[2] ?? 20);

const folder = mkdtempSync(join(tmpdir(), "throughline-page-"));
const webFolder = join(folder, "web");
await build({
  configFile: "src/interface/web/vite.config.ts",
  logLevel: "error",
  build: { outDir: webFolder, emptyOutDir: true },
});

const paragraph =
  "The runner stops before anything is compiled, so a **project file** is the likely place, and `tsc -b` says which.\n\n";
const thought = {
  reasoning: ["**Locating the failing step**\n\nThe runner stops early.", "**Deciding**\n\nI answer."],
};
const look = { function_call: { name: "look", arguments: { path: "packages/core/tsconfig.json" } } };
const answer = { message: `${paragraph}- one\n- two\n\n| a | b |\n|---|---:|\n| x | 1 |` };
const turn = [{ output: [thought, look] }, { output: [answer] }];
const long = { message: paragraph.repeat(Math.ceil((seconds * 1000) / DELTA_MS / 15)) };
const emulator = await startEmulator({
  scenario: loadScenario(
    JSON.stringify({
      steps: [...Array.from({ length: TURNS }, () => turn).flat(), { output: [long] }],
      afterwards: "model",
    }),
    "page.json",
  ),
});
let slow = false;
const agent = createAgent({
  model: openai("emu-reasoner", { apiKey: "sk-bench", baseUrl: emulator.baseUrl }),
  fetch: async (input, init) => paced(await fetch(input, init)),
  tools: [
    tool({
      name: "look",
      description: "Looks",
      input: { type: "object" },
      access: "read",
      run: () => "12 lines",
    }),
  ],
});
const store = memoryStore();
const server = await startServer({ agent, store, port: 0, page: webFolder });
const session = await agent.open({ id: "long", store });
for (let at = 0; at < TURNS; at += 1) await session.send(`Message ${at}: what fails, and why?`).result();
await session.close();
slow = true;

const places = [process.env.THROUGHLINE_CHROMIUM, "/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];
const browser = await chromium.launch({
  executablePath: places.find((place) => place !== undefined && existsSync(place)),
  args: ["--no-sandbox", "--disable-gpu"],
});
try {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  await context.addInitScript(`
    window.__tasks = [];
    new PerformanceObserver((list) => { for (const one of list.getEntries()) window.__tasks.push(one.duration); })
      .observe({ type: "longtask", buffered: true });
  `);
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  // Processor time, so that other work on the machine does not count.
  await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
  const metrics = async () =>
    Object.fromEntries(
      (await cdp.send("Performance.getMetrics")).metrics.map(({ name, value }) => [name, value]),
    );
  const rows = [{ what: "first load, gzip", value: `${(firstLoad() / 1000).toFixed(1)} KB` }];

  await page.goto(await server.newLink());
  await page.getByRole("textbox", { name: "Your message" }).waitFor();
  await page.goto(`${server.url}/s/long`);
  await page.getByText(`Message ${TURNS - 1}:`).waitFor();
  await page
    .locator(".turn")
    .nth(TURNS - 1)
    .waitFor({ state: "attached" });
  const opened = await metrics();
  const blocks = await page.locator("[data-block]").count();
  rows.push(
    { what: `${blocks} blocks drawn, main thread`, value: `${Math.round(opened.TaskDuration * 1000)} ms` },
    { what: "its longest task", value: `${Math.round(await longest(page))} ms` },
    {
      what: "distance from the end",
      value: `${await page.locator(".scroller").evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight)} px`,
    },
  );

  await page.evaluate("window.__tasks.length = 0");
  await page.getByRole("textbox", { name: "Your message" }).fill("Tell me all of it");
  await page.keyboard.press("Enter");
  await page.locator(".turn").last().locator(".text").waitFor();
  const [before, began] = [await metrics(), Date.now()];
  await new Promise((done) => setTimeout(done, (seconds * 1000) / 2));
  const share = ((await metrics()).TaskDuration - before.TaskDuration) / ((Date.now() - began) / 1000);
  const longestTask = await longest(page);
  const heaps = [];
  for (let at = 0; at < 4; at += 1) {
    await cdp.send("HeapProfiler.collectGarbage");
    heaps.push(Math.round((await metrics()).JSHeapUsedSize / 1e5) / 10);
    await new Promise((done) => setTimeout(done, (seconds * 1000) / 12));
  }
  rows.push(
    { what: "100 deltas/s beside them, share of a core", value: `${(share * 100).toFixed(1)} %` },
    { what: "longest task while streaming", value: `${Math.round(longestTask)} ms` },
    { what: "heap while streaming (MB)", value: heaps.join(" ") },
  );
  // oxlint-disable-next-line no-console -- the figures are what it is for
  console.table(rows);
} finally {
  await browser.close();
  await server.close();
  await emulator.close();
  rmSync(folder, { recursive: true, force: true });
}

function longest(page) {
  return page.evaluate("Math.max(0, ...window.__tasks)");
}

/** What the browser loads before the first message: the page, its entry and its styles, not what is loaded on demand. */
function firstLoad() {
  const html = readFileSync(join(webFolder, "index.html"));
  const named = readdirSync(join(webFolder, "assets")).filter((name) => html.includes(`/assets/${name}`));
  return [html, ...named.map((name) => readFileSync(join(webFolder, "assets", name)))]
    .map((bytes) => gzipSync(bytes).length)
    .reduce((sum, size) => sum + size, 0);
}

/** Passes the deltas of an answer on one at a time. */
function paced(response) {
  if (!slow || response.body === null) return response;
  let rest = "";
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  const stream = new TransformStream({
    async transform(chunk, out) {
      rest += decoder.decode(chunk, { stream: true });
      const frames = rest.split("\n\n");
      rest = frames.pop() ?? "";
      for (const frame of frames) {
        out.enqueue(encoder.encode(`${frame}\n\n`));
        if (frame.includes(".delta")) await new Promise((done) => setTimeout(done, DELTA_MS));
      }
    },
    flush: (out) => out.enqueue(encoder.encode(rest)),
  });
  return new Response(response.body.pipeThrough(stream), {
    status: response.status,
    headers: response.headers,
  });
}
