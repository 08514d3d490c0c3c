/**
 * Writes the logs that every later version must be able to read: real sessions on the file store against the emulator, in
 * test/fixtures/logs/v<version>, with this version's results (expected.json). test/logs/earlier-logs.test.ts compares every
 * later version with them.
 *
 *   node --import tsx scripts/make-log-fixtures.mjs [version]
 *
 * Run it once per version, before the format or the rendering changes. The version defaults to that of package.json. An
 * existing folder is never overwritten, because an earlier program's output cannot be recreated. A new event type, dialect
 * or field gets a new log in log-fixtures/. Logs that an earlier folder has are not written again, so a changed test needs
 * a new name. Ids and times differ from run to run.
 */
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

import { fileStore } from "../src/index.ts";
import { expectedOf, whatIsKnown } from "../test/support/earlier-logs.ts";
import { damaged } from "./log-fixtures/damaged.mjs";
import { dialects } from "./log-fixtures/dialects.mjs";
import { endings } from "./log-fixtures/endings.mjs";
import { healed } from "./log-fixtures/healed.mjs";
import { histories } from "./log-fixtures/histories.mjs";
import { inputs } from "./log-fixtures/inputs.mjs";
import { mcp } from "./log-fixtures/mcp.mjs";
import { serverTools } from "./log-fixtures/server-tools.mjs";
import { vendors } from "./log-fixtures/vendors.mjs";

const { version } = JSON.parse(readFileSync("package.json", "utf8"));
const out = resolve("test/fixtures/logs", `v${process.argv[2] ?? version}`);
if (existsSync(out)) {
  process.stderr.write(`${out} already exists: the logs of a version are written only once\n`);
  process.exit(1);
}

const recipes = {
  ...dialects,
  ...histories,
  ...healed,
  ...endings,
  ...inputs,
  ...serverTools,
  ...vendors,
  ...mcp,
};
const earlier = readdirSync(dirname(out), { recursive: true }).map((path) => basename(path, ".jsonl"));
const isNew = ([name]) => !earlier.includes(name);

// Written next to it and renamed at the end: the folder is complete or absent.
const folder = mkdtempSync(join(dirname(out), ".making-"));
try {
  // Damaged logs are made from the ones before.
  for (const all of [recipes, damaged])
    for (const [name, make] of Object.entries(all).filter(isNew)) await tell(name, () => make(name, folder));
  // Summaries are disposable, and those of an earlier version are not read.
  for (const file of readdirSync(folder)) if (file.endsWith(".summary")) rmSync(join(folder, file));
  const logs = [];
  for (const file of readdirSync(folder).toSorted()) {
    if (!file.endsWith(".jsonl")) continue;
    const name = file.slice(0, -".jsonl".length);
    const record = await expectedOf(fileStore(folder), name, "read");
    logs.push(`${JSON.stringify(name)}: ${JSON.stringify(record)}`);
  }
  const knew = `"knew": ${JSON.stringify(whatIsKnown())}`;
  writeFileSync(join(folder, "expected.json"), `{\n${knew},\n"logs": {\n${logs.join(",\n")}\n}\n}\n`);
  renameSync(folder, out);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function tell(name, make) {
  await make();
  process.stdout.write(`${name}\n`);
}
