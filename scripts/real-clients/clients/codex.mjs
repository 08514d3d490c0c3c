/** Codex, with functions (for a model it does not know) and in its code mode (for one it knows), with tools defined by items. */
import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { editLines, PROGRAM_FAULTS, programScenarios } from "../program-scenarios.mjs";
import { packageFile, runProgram } from "../programs.mjs";

export const client = {
  name: "codex",
  packages: ["@openai/codex@latest"],
  timeoutMs: 240_000,

  async run({ dir, work, baseUrl, key }) {
    const codex = started({ dir, work, baseUrl, key });
    const exec = (...args) => codex(args);

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

  faults: PROGRAM_FAULTS,
  scenarios: {
    ...programScenarios((order) => {
      const codex = started(order);
      const exec = (words, { model = "emu-reasoner", key = order.key, killWhen } = {}) =>
        codex(["-m", model, ...words], { env: { OPENAI_API_KEY: key }, killWhen });
      return {
        first: (text, options) => exec([text], options),
        next: (text, options) => exec(["resume", "--last", text], options),
        slow: "Use exec_command to run 'touch started; sleep 20'",
        other: "emu-prefix-bound",
        lose: () =>
          editLines(join(order.work, "sessions"), (entry) =>
            entry.payload?.type === "reasoning" ? undefined : entry,
          ),
      };
    }),
    /** The proxy and the emulator refuse the upgrade; Codex goes on over HTTP. */
    /** Its own provider adds a field to every item that strict servers do not know. */
    "unknown-field": async (order) => {
      const codex = started(
        order,
        undefined,
        `model = "gpt-5.6-sol"\nopenai_base_url = "${order.baseUrl}"\n`,
      );
      await codex(["Think of a number."]);
      const script = "Use exec with this: `text('one ' + 'script')`";
      assert.match(await codex(["resume", "--last", script]), /Output: one script/);
      assert.match(await codex(["resume", "--last", "Which number was it?"]), /I thought of \d+/);
    },
    websocket: async (order) => {
      const codex = started(order, "supports_websockets = true");
      await codex(["Think of a number."]);
      assert.match(await codex(["resume", "--last", "Which number was it?"]), /I thought of \d+/);
    },
  },
};

function started({ dir, work, baseUrl, key }, more = "", settings = config(baseUrl, more)) {
  const vendor = packageFile(dir, "@openai/codex-", "vendor");
  const program = join(vendor, readdirSync(vendor)[0], "bin/codex");
  writeFileSync(join(work, "config.toml"), settings);
  writeFileSync(join(work, "auth.json"), JSON.stringify({ OPENAI_API_KEY: key, auth_mode: "apikey" }));
  return (args, { env, ...options } = {}) =>
    runProgram(program, ["exec", "--skip-git-repo-check", ...args], {
      cwd: work,
      env: { CODEX_HOME: work, ...env },
      ...options,
    });
}

const config = (baseUrl, more) => `
model = "emu-reasoner"
model_provider = "emulator"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[model_providers.emulator]
name = "emulator"
base_url = "${baseUrl}"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
${more}
[analytics]
enabled = false
`;
