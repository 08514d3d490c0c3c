/**
 * Takes screenshots of the page: `throughline serve` against a scripted emulator, in a headless Chromium, light, dark and on
 * a phone. Builds into a temporary folder: node --import tsx scripts/page-screens.mjs [folder] [state]
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { chromium } from "playwright-core";
import { build } from "vite";

import { loadScenario, startEmulator } from "../src/emulator/index.ts";
import { bundleCli } from "./bundle-cli.mjs";
import { OPENING, STATES } from "./page-screens/states.mjs";

const out = resolve(process.argv[2] ?? "docs/screens");
const only = process.argv[3];
const built = mkdtempSync(join(tmpdir(), "throughline-built-"));
const cli = join(built, "cli/main.js");

const LOOKS = {
  light: { colorScheme: "light", viewport: { width: 1440, height: 900 } },
  dark: { colorScheme: "dark", viewport: { width: 1440, height: 900 } },
  phone: {
    colorScheme: "light",
    viewport: { width: 390, height: 844 },
    deviceScaleFactor: 2,
    hasTouch: true,
    isMobile: true,
  },
  "phone-dark": {
    colorScheme: "dark",
    viewport: { width: 390, height: 844 },
    deviceScaleFactor: 2,
    hasTouch: true,
    isMobile: true,
  },
};

/** A project with a build that fails, as the conversation says. */
function makeProject(folder) {
  mkdirSync(join(folder, "packages/core"), { recursive: true });
  writeFileSync(
    join(folder, "package.json"),
    `${JSON.stringify({ name: "parser-kit", version: "2.4.0", scripts: { build: "node build.mjs" } }, undefined, 2)}\n`,
  );
  writeFileSync(
    join(folder, "build.mjs"),
    `console.log("> tsc -b packages/cli\\n");\nconsole.error("packages/core/tsconfig.json(9,5): error TS6053:\\n  File 'packages/Shared/tsconfig.json' not found.");\nfor (let at = 1; at <= 9; at += 1) console.log("  checked project " + at);\nprocess.exit(3);\n`,
  );
  writeFileSync(
    join(folder, "packages/core/tsconfig.json"),
    '{\n  "extends": "../../tsconfig.base.json",\n  "compilerOptions": { "composite": true, "outDir": "dist" },\n  "references": [{ "path": "../Shared" }]\n}\n',
  );
}

async function start({ steps = [], key = true }, folder) {
  const work = join(folder, "parser-kit");
  mkdirSync(work);
  makeProject(work);
  const emulator = await startEmulator({
    scenario: loadScenario(JSON.stringify({ steps, afterwards: "model" }), "screens.json"),
  });
  const run = (port) =>
    spawn(process.execPath, [cli, "serve", "--port", String(port)], {
      cwd: work,
      env: {
        PATH: process.env.PATH,
        HOME: folder,
        THROUGHLINE_HOME: join(folder, "home"),
        ...(key
          ? {
              OPENAI_BASE_URL: emulator.baseUrl,
              OPENAI_API_KEY: "sk-screens",
              THROUGHLINE_MODEL: "openai/emu-reasoner:high",
            }
          : {}),
      },
    });
  return { emulator, server: run(0), run };
}

async function take(browser, state, look) {
  const folder = mkdtempSync(join(tmpdir(), "throughline-screens-"));
  const { emulator, server, run } = await start(state, folder);
  const context = await browser.newContext({
    ...LOOKS[look],
    ...(state.size === undefined || look.startsWith("phone") ? {} : { viewport: state.size }),
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  try {
    await page.goto(await linkOf(server));
    await page.getByRole("textbox", { name: "Your message" }).waitFor();
    if (state.steps !== undefined) {
      await page.getByRole("textbox", { name: "Your message" }).fill(state.says ?? OPENING);
      await page.keyboard.press("Enter");
    }
    await state.look(page, { server, run, isPhone: look.startsWith("phone") });
    await page.mouse.move(2, 400);
    await page.screenshot({ path: join(out, `page-${state.name}-${look}.png`) });
    process.stdout.write(`page-${state.name}-${look}.png\n`);
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

await bundleCli(join(built, "cli"));
await build({
  configFile: "src/interface/web/vite.config.ts",
  logLevel: "warn",
  build: { outDir: join(built, "web") },
});
mkdirSync(out, { recursive: true });
const places = [process.env.THROUGHLINE_CHROMIUM, "/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];
const browser = await chromium.launch({
  executablePath: places.find((place) => place !== undefined && existsSync(place)),
  args: ["--no-sandbox", "--disable-gpu"],
});
let failures = 0;
try {
  for (const state of STATES) {
    for (const look of state.looks) {
      if (only !== undefined && only !== state.name && only !== `${state.name}-${look}`) continue;
      await take(browser, state, look).catch((error) => {
        failures += 1;
        process.stderr.write(`page-${state.name}-${look}: ${error.message}\n`);
      });
    }
  }
} finally {
  await browser.close();
  rmSync(built, { recursive: true, force: true });
}
process.exitCode = failures === 0 ? 0 : 1;
