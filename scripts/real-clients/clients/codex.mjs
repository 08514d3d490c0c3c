/** Codex, with functions (for a model it does not know) and in its code mode (for one it knows), with tools defined by items. */
import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { packageFile, runProgram } from "../programs.mjs";

export const client = {
  name: "codex",
  packages: ["@openai/codex@latest"],
  timeoutMs: 240_000,

  async run({ dir, work, baseUrl }) {
    const vendor = packageFile(dir, "@openai/codex-", "vendor");
    const codex = join(vendor, readdirSync(vendor)[0], "bin/codex");
    writeFileSync(join(work, "config.toml"), config(baseUrl));
    const exec = (...args) =>
      runProgram(codex, ["exec", "--skip-git-repo-check", ...args], { cwd: work, env: { CODEX_HOME: work } });

    assert.match(await exec("Use exec_command to run 'echo from-codex'"), /Output: from-codex/);
    await exec("resume", "--last", "Think of a number.");
    assert.match(await exec("resume", "--last", "Which number was it?"), /I thought of \d+/);

    const script = "Use exec with this: `text('one ' + 'script')`";
    assert.match(await exec("-m", "gpt-5.6-sol", script), /Output: one script/);
    await exec("-m", "gpt-5.6-sol", "resume", "--last", "Think of a number.");
    assert.match(
      await exec("-m", "gpt-5.6-sol", "resume", "--last", "Which number was it?"),
      /I thought of \d+/,
    );
  },
};

const config = (baseUrl) => `
model = "emu-reasoner"
model_provider = "emulator"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[model_providers.emulator]
name = "emulator"
base_url = "${baseUrl}"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
[analytics]
enabled = false
`;
