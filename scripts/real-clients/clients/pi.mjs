/**
 * pi, the coding agent, on Responses and on chat completions. 0.87.1 is the newest version that can be installed: 1.x
 * depends on a package that is not published.
 */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

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
};
