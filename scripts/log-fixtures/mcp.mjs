/** Tools of an MCP server: declared with its names and instructions, asked about, with an image, a question and a change. */
import { copyFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

import { mcpTools } from "../../src/index.ts";
import { call, chat, ended, messages, responses, say, session, thought } from "./session.mjs";

const SERVER = dirname(
  createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/package.json"),
);
const ASKS = "trigger-elicitation-request";
const used = (tools) =>
  mcpTools({
    servers: { every: { command: "node", args: [join(SERVER, "dist", "index.js"), "stdio"], tools } },
  });

/** Allows every call, and fills in every form. */
async function attended(opened, turn) {
  for await (const event of turn) {
    if (event.type === "permission_request") await opened.approve(event.requestId);
    if (event.type === "elicitation_request")
      await opened.answer(event.requestId, { action: "accept", content: { name: "Ada" } });
  }
  return ended(turn);
}

const withTools = (model, calls) => async (id, folder) => {
  const mcp = await used(["echo", "get-tiny-image", ASKS]);
  try {
    const steps = [
      ...calls.map(({ name, args }) => ({ output: [thought("A server has this."), call(name, args)] })),
      { output: [say("Done.")] },
    ];
    await session(
      id,
      folder,
      { model, steps, agent: { tools: [mcp], permissions: "ask" } },
      async (opened, { ask }) => {
        await attended(opened, opened.send("Use the server."));
        await ask("Thanks");
      },
    );
  } finally {
    await mcp.close();
  }
};

const ECHO = { name: "mcp__every__echo", args: { message: "hello" } };
const IMAGE = { name: "mcp__every__get-tiny-image", args: {} };
const FORM = { name: `mcp__every__${ASKS}`, args: {} };

/** The process died while the server waited for an answer. */
const interruptedQuestion = async (id, folder) => {
  const life = `life-of-${id}`;
  const made = await used([ASKS]);
  try {
    const steps = [{ output: [thought("A server has this."), call(FORM.name, FORM.args)] }];
    await session(life, folder, { model: responses(), steps, agent: { tools: [made] } }, async (opened) => {
      const turn = opened.send("Use the server.");
      for await (const event of turn) {
        if (event.type !== "elicitation_request") continue;
        copyFileSync(join(folder, `${life}.jsonl`), join(folder, `${id}.jsonl`));
        turn.cancel();
      }
      await ended(turn, "cancelled");
    });
  } finally {
    await made.close();
  }
  rmSync(join(folder, `${life}.jsonl`));
};

export const mcp = {
  "mcp-interrupted-question": interruptedQuestion,
  "mcp-responses": withTools(responses(), [ECHO, IMAGE]),
  "mcp-messages-bound": withTools(messages("emu-claude-bound"), [ECHO, IMAGE]),
  "mcp-chat": withTools(chat("emu-chat", "openai-chat"), [ECHO, IMAGE]),
  "mcp-question": withTools(responses(), [FORM]),
  "mcp-tools-changed": async (id, folder) => {
    for (const tools of [["echo"], ["echo", "get-sum"]]) {
      const made = await used(tools);
      try {
        await session(id, folder, { model: responses(), agent: { tools: [made] } }, async (_, { ask }) => {
          await ask("Thanks");
        });
      } finally {
        await made.close();
      }
    }
  },
};
