/** Canaries in a key, a header and a URL: no set-up command shows them, and no file but the user's own holds them. */

import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { emulatorOf, newPlace, run, toolsFile, treeOf } from "./harness.ts";

const KEY = "sk-canary-key-0a1b2c3d4e5f/+=";
const HEADER = "canary-header-5f4e3d2c1b0a";
const FORMS = [KEY, HEADER].flatMap((one) => [
  one,
  encodeURIComponent(one),
  Buffer.from(one).toString("base64"),
]);

test("a key in the environment and a header in the settings stay where they are", async () => {
  const place = newPlace();
  const { emulator } = await emulatorOf({ accounts: { [KEY]: "org-canary" } });
  mkdirSync(place.home);
  const config = join(place.home, "config.json");
  const mine = {
    dialect: "openai-responses",
    baseUrl: emulator.baseUrl,
    keyVariable: "MY_KEY",
    headers: { "x-team": HEADER },
    models: ["emu-reasoner"],
  };
  writeFileSync(config, JSON.stringify({ model: "mine/emu-reasoner", providers: { mine } }), { mode: 0o600 });
  const file = toolsFile(
    place,
    `export const t = tool({ name: "leak_it", description: "d", access: "read", input: { type: "object" },
       run: () => process.env.MY_KEY + " " + JSON.parse(fs.readFileSync(${JSON.stringify(config)}, "utf8")).providers.mine.headers["x-team"] });`,
  );
  const env = { MY_KEY: KEY };
  const shown: string[] = [];
  for (const args of [
    ["-p", "--tools", file, "--debug", "please leak_it"],
    ["-p", "--json", "-c", "--tools", file, "please leak_it"],
    ["-p", "-c", "-o", "answer.txt", "--show-reasoning", "full", "hello"],
    ["config"],
    ["config", "list", "--json"],
    ["config", "get", "providers"],
    ["config", "get", "providers.mine.headers.x-team"],
    ["models"],
    ["models", "--json"],
    ["doctor"],
    ["doctor", "--json"],
    ["inspect", "--last"],
    ["sessions", "show", "--last", "--reasoning", "full"],
    ["sessions", "list", "--json"],
    ["-p", "-m", "mine/", "hi"],
    ["-p", "--debug", "-m", "nope", "hi"],
  ]) {
    const ran = await run(place, args, { env });
    shown.push(`${args.join(" ")}\n${ran.out}\n${ran.err}`);
  }
  expect(shown[0]).toContain("✓ leak_it: [redacted] [redacted]");
  const files = [...treeOf(place.home), ...treeOf(place.work)].filter(
    (path) => statSync(path).isFile() && path !== config,
  );
  expect(files.length).toBeGreaterThan(2);
  for (const text of [...shown, ...files.map((path) => `${path}\n${readFileSync(path, "utf8")}`)]) {
    for (const form of FORMS) expect(text.includes(form), text.slice(0, 200)).toBe(false);
  }
});
