/** opencode on the Responses API: its bash tool, then the same session continued. */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { PROGRAM_FAULTS, programScenarios } from "../program-scenarios.mjs";
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

  faults: PROGRAM_FAULTS,
  scenarios: programScenarios(
    ({ dir, work, baseUrl, key: own }) => {
      const opencode = packageFile(dir, `opencode-${process.platform}-${process.arch}`, "bin/opencode");
      const project = join(work, "project");
      mkdirSync(project);
      const ask = (words, { model = "emu-reasoner", key = own, killWhen } = {}) => {
        writeFileSync(join(project, "opencode.json"), JSON.stringify(config(baseUrl, key)));
        const args = ["run", "--model", `emulator/${model}`, ...words];
        return runProgram(opencode, args, { cwd: project, env: { HOME: work }, killWhen });
      };
      return {
        first: (text, options) => ask([text], options),
        next: (text, options) => ask(["--continue", text], options),
        slow: "Use bash to run `touch started; sleep 20`",
        other: "emu-prefix-bound",
      };
    },
    ["lost-thoughts"],
  ),
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
      models: {
        "emu-reasoner": { reasoning: true, tool_call: true },
        "emu-prefix-bound": { reasoning: true, tool_call: true },
      },
    },
  },
});
