/** Claude Code without its interface: a command, a file, and a number it must remember, on three kinds of models. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { packageFile, runProgram } from "../programs.mjs";

export const client = {
  name: "claude-code",
  packages: ["@anthropic-ai/claude-code@latest"],
  timeoutMs: 400_000,

  async run({ dir, work }) {
    const claude = packageFile(dir, "@anthropic-ai/claude-code-", "claude");
    writeFileSync(join(work, "notes.txt"), "from a file\n");
    for (const model of ["emu-claude", "emu-claude-bound", "claude-opus-5-5"]) {
      const say = (words, ...more) =>
        runProgram(claude, ["-p", words, "--model", model, "--allowedTools", "Bash,Read", ...more], {
          cwd: work,
        });
      assert.match(await say("Use Bash to run `echo from-claude`"), /Bash: from-claude/);
      assert.match(await say("Read notes.txt and summarise it.", "--continue"), /from a file/);
      await say("Think of a number.", "--continue");
      assert.match(await say("Which number was it?", "--continue"), /I thought of \d+/);
    }
  },

  check({ report }) {
    assert.equal(report.totals.prefixBreaks, 0, "a request did not begin like the one before");
  },
};
