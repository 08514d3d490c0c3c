/**
 * Takes screenshots of the page: `throughline serve` against a scripted emulator, in a headless Chromium. Writes each state
 * as a PNG to docs/screens. Builds into a temporary folder: node --import tsx scripts/page-screens.mjs [folder] [name]
 */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { chromium } from "playwright-core";
import { build } from "vite";

import { loadScenario, startEmulator } from "../src/emulator/index.ts";
import { bundleCli } from "./bundle-cli.mjs";

const out = resolve(process.argv[2] ?? "docs/screens");
const built = mkdtempSync(join(tmpdir(), "throughline-built-"));
const cli = join(built, "cli/main.js");
await bundleCli(join(built, "cli"));
await build({
  configFile: "src/interface/web/vite.config.ts",
  logLevel: "warn",
  build: { outDir: join(built, "web") },
});

const thought = {
  reasoning: [
    "**Locating the failing step**\n\nThe build has three steps; the second one fails.",
    "**Reading the build log**\n\nThe log shows a missing export in `src/index.ts`. The `types` entry may be the reason, since everything else resolves.",
  ],
};
const answer = {
  message:
    'The `exports` field lacks a `types` entry.\n\n1. I looked at the build log.\n2. I compared it with [the manual](https://nodejs.org/api/packages.html).\n\n```json\n{ "types": "./dist/index.d.ts" }\n```\n\nAdd the entry and the build passes.',
};
const call = (name, args) => ({ function_call: { name, arguments: args } });
const read = call("read_file", { path: "package.json" });
const run = call("run_command", { command: "npm run build" });
const stall = ["stall=after-event:60"];

const SCREENS = [
  {
    name: "done",
    steps: [{ output: [thought, read] }, { output: [{ reasoning: [] }, answer] }],
    async look(page) {
      await ended(page);
      await inspect(page, "reasoning");
    },
  },
  {
    name: "generating",
    steps: [{ output: [thought, answer], faults: stall }],
    look: (page) => page.locator("summary", { hasText: "Reading the build log" }).waitFor(),
  },
  {
    name: "unfolded",
    steps: [{ output: [thought, answer], faults: stall }],
    async look(page) {
      await page.locator("summary", { hasText: "Reading the build log" }).waitFor();
      await page.locator("li.reasoning summary").click();
      await page.getByText("✓ Locating the failing step").waitFor();
    },
  },
  {
    name: "permission",
    dark: true,
    steps: [{ output: [thought, run] }],
    look: (page) => page.getByRole("group", { name: /Permission/ }).waitFor(),
  },
  {
    name: "switch",
    steps: [{ output: [thought, answer] }],
    async look(page) {
      await ended(page);
      await page.getByLabel("Model").selectOption("emulator/emu-claude");
      await page.getByText(/reasoning items? (?:stay|go)/).waitFor();
    },
  },
  {
    name: "requests",
    width: 1000,
    steps: [{ output: [thought, read] }, { output: [thought, answer] }],
    async look(page) {
      await ended(page);
      await page.getByRole("tab", { name: "requests" }).click();
      await page.getByRole("button", { name: /^2 ·/ }).click();
      await page.locator(".diff summary").click();
    },
  },
  {
    name: "plots",
    dark: true,
    steps: [{ output: [thought, read] }, { output: [thought, read] }, { output: [thought, answer] }],
    async look(page) {
      await ended(page);
      await page.getByRole("tab", { name: "plots" }).click();
    },
  },
  {
    name: "narrow",
    width: 400,
    steps: [{ output: [thought, read] }, { output: [thought, answer] }],
    look: (page) => ended(page),
  },
];

async function ended(page) {
  await page.locator(".turn-line").waitFor();
}

async function inspect(page, kind) {
  await page
    .getByRole("button", { name: `Inspect this ${kind} block` })
    .first()
    .click();
  await page.getByText(/next request: replay/).waitFor();
}

async function take(browser, { name, steps, look, width = 1180, dark = false }) {
  const folder = mkdtempSync(join(tmpdir(), "throughline-screens-"));
  const work = join(folder, "app");
  mkdirSync(work);
  writeFileSync(join(work, "package.json"), '{ "name": "app", "exports": "./dist/index.js" }\n');
  const emulator = await startEmulator({
    scenario: loadScenario(JSON.stringify({ steps }), "screens.json"),
  });
  const server = spawn(process.execPath, [cli, "serve", "--port", "0"], {
    cwd: work,
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      THROUGHLINE_HOME: join(folder, "home"),
      OPENAI_BASE_URL: emulator.baseUrl,
      OPENAI_API_KEY: "sk-screens",
      THROUGHLINE_MODEL: "openai/emu-reasoner:high",
    },
  });
  const context = await browser.newContext({
    viewport: { width, height: width < 600 ? 800 : 660 },
    colorScheme: dark ? "dark" : "light",
    reducedMotion: "reduce",
  });
  try {
    const page = await context.newPage();
    await page.goto(await linkOf(server));
    await page.getByRole("button", { name: "New session" }).click();
    await page.getByRole("textbox", { name: "Your message" }).fill("why does the build fail?");
    await page.keyboard.press("Enter");
    await look(page);
    await page.screenshot({ path: join(out, `page-${name}.png`) });
  } finally {
    await context.close();
    server.kill("SIGKILL");
    await emulator.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function linkOf(server) {
  return new Promise((done, failed) => {
    let told = "";
    const hear = (data) => {
      told += String(data);
      const [link] = /http:\S+\/login\S+/.exec(told) ?? [];
      if (link !== undefined) done(link);
    };
    server.stdout.on("data", hear);
    server.stderr.on("data", hear);
    server.on("exit", () => failed(new Error(told)));
  });
}

mkdirSync(out, { recursive: true });
const browser = await chromium.launch({
  executablePath: process.env.THROUGHLINE_CHROMIUM ?? "/usr/bin/chromium-headless-shell",
  args: ["--no-sandbox"],
});
try {
  const only = process.argv[3];
  for (const screen of SCREENS) if (only === undefined || only === screen.name) await take(browser, screen);
} finally {
  await browser.close();
  rmSync(built, { recursive: true, force: true });
}
