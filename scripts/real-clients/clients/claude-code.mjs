/** Claude Code without its interface: a command, a file, and a number it must remember, on three kinds of models. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { editLines, PROGRAM_FAULTS, programScenarios } from "../program-scenarios.mjs";
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

  faults: PROGRAM_FAULTS,
  scenarios: {
    ...programScenarios(started),
    /** The transcript keeps the signature and loses the text. */
    "empty-thoughts": async (order) => {
      const claude = started(order);
      await claude.first("Think of a number.");
      claude.edit((block) => (block.type === "thinking" ? { ...block, thinking: "" } : block));
      assert.match(await claude.next("Which number was it?"), /I thought of \d+/);
    },
  },

  check({ report }) {
    assert.equal(report.totals.prefixBreaks, 0, "a request did not begin like the one before");
  },
};

function started({ dir, work, url, key: own }) {
  const program = packageFile(dir, "@anthropic-ai/claude-code-", "claude");
  const say = (words, { model = "emu-claude", key = own, killWhen } = {}) =>
    runProgram(program, ["-p", ...words, "--model", model, "--allowedTools", "Bash,Read"], {
      cwd: work,
      env: { HOME: work, ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: key },
      killWhen,
    });
  const edit = (change) =>
    editLines(join(work, ".claude/projects"), (entry) => {
      const { content } = entry.message ?? {};
      if (!Array.isArray(content)) return entry;
      const kept = content.flatMap((block) => change(block) ?? []);
      return kept.length === 0 ? undefined : { ...entry, message: { ...entry.message, content: kept } };
    });
  return {
    first: (text, options) => say([text], options),
    next: (text, options) => say([text, "--continue"], options),
    slow: "Use Bash to run `touch started; sleep 20`",
    other: "claude-sonnet-4-5",
    edit,
    lose: () => edit((block) => (block.type === "thinking" ? undefined : block)),
  };
}
