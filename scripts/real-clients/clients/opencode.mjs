/** opencode on the Responses API: its bash tool, then the same session continued. */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { packageFile, runProgram } from "../programs.mjs";

export const client = {
  name: "opencode",
  packages: ["opencode-ai@latest"],

  async run({ dir, work, baseUrl, key }) {
    const opencode = packageFile(dir, `opencode-${process.platform}-${process.arch}`, "bin/opencode");
    const project = join(work, "project");
    mkdirSync(project);
    writeFileSync(join(project, "opencode.json"), JSON.stringify(config(baseUrl, key)));
    const ask = (...args) => runProgram(opencode, ["run", ...args], { cwd: project });
    assert.match(await ask("Use bash to run `echo from-opencode`"), /bash: from-opencode/);
    await ask("--continue", "Think of a number.");
    assert.match(await ask("--continue", "Which number was it?"), /I thought of \d+/);
  },
};

const config = (baseURL, apiKey) => ({
  autoupdate: false,
  share: "disabled",
  permission: "allow",
  model: "emulator/emu-reasoner",
  small_model: "emulator/emu-reasoner",
  provider: {
    emulator: {
      npm: "@ai-sdk/openai",
      options: { baseURL, apiKey },
      models: { "emu-reasoner": { reasoning: true, tool_call: true } },
    },
  },
});
