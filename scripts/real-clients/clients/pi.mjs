/**
 * pi, the coding agent, on Responses and on chat completions. 0.87.1 is the newest version that can be installed: 1.x
 * depends on a package that is not published.
 */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { editLines, PROGRAM_FAULTS, programScenarios } from "../program-scenarios.mjs";
import { runProgram } from "../programs.mjs";

export const client = {
  name: "pi",
  packages: ["@earendil-works/pi-coding-agent@0.87.1"],

  async run({ dir, work, baseUrl, key }) {
    const program = join(dir, "node_modules/@earendil-works/pi-coding-agent/dist/cli.js");
    const provider = (api, model, reasoning) => ({
      baseUrl,
      api,
      apiKey: key,
      models: [{ id: model, reasoning }],
    });
    const providers = {
      responses: provider("openai-responses", "emu-reasoner", true),
      chat: provider("openai-completions", "emu-chat", false),
    };
    mkdirSync(join(work, ".pi/agent"), { recursive: true });
    writeFileSync(join(work, ".pi/agent/models.json"), JSON.stringify({ providers }));
    for (const [name, { models }] of Object.entries(providers)) {
      const session = join(work, name);
      mkdirSync(session);
      const ask = (text, ...more) =>
        runProgram(
          process.execPath,
          [program, "-p", "--provider", name, "--model", models[0].id, ...more, text],
          { cwd: session },
        );
      assert.match(await ask("Use bash to run `echo from-pi`"), /bash: from-pi/);
      if (name === "chat") continue;
      await ask("Think of a number.", "-c");
      assert.match(await ask("Which number was it?", "-c"), /I thought of \d+/);
    }
  },

  faults: PROGRAM_FAULTS,
  scenarios: {
    ...programScenarios((order) => started(order, "openai-responses", ["emu-reasoner", "emu-prefix-bound"])),
    /** Thoughts as a field of messages, which vendors demand back. Kimi does not read those of earlier turns. */
    deepseek: async (order) => inTurns(started(order, "openai-completions", ["emu-deepseek"])),
    kimi: async (order) => inLoop(started(order, "openai-completions", ["emu-kimi"])),
  },
};

async function inLoop(pi) {
  assert.match(await pi.first("Use bash to run `echo from-pi`"), /bash: from-pi/);
  assert.match(await pi.next("Use bash to run `echo again`"), /bash: again/);
}

async function inTurns(pi) {
  await inLoop(pi);
  await pi.next("Think of a number.");
  assert.match(await pi.next("Which number was it?"), /I thought of \d+/);
}

function started({ dir, work, baseUrl, key: own }, api, models) {
  const program = join(dir, "node_modules/@earendil-works/pi-coding-agent/dist/cli.js");
  mkdirSync(join(work, ".pi/agent"), { recursive: true });
  const ask = (words, { model = models[0], key = own, killWhen } = {}) => {
    const emulator = {
      baseUrl,
      api,
      apiKey: key,
      models: models.map((id) => ({ id, reasoning: true, compat: { supportsDeveloperRole: false } })),
    };
    writeFileSync(join(work, ".pi/agent/models.json"), JSON.stringify({ providers: { emulator } }));
    return runProgram(
      process.execPath,
      [program, "-p", "--provider", "emulator", "--model", model, ...words],
      {
        cwd: work,
        env: { HOME: work },
        killWhen,
      },
    );
  };
  return {
    first: (text, options) => ask([text], options),
    next: (text, options) => ask(["-c", text], options),
    slow: "Use bash to run `touch started; sleep 20`",
    other: models[1],
    lose: () =>
      editLines(join(work, ".pi/agent/sessions"), (entry) => {
        const { content } = entry.message ?? {};
        if (!Array.isArray(content)) return entry;
        return {
          ...entry,
          message: { ...entry.message, content: content.filter(({ type }) => type !== "thinking") },
        };
      }),
  };
}
