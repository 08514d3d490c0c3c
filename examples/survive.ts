/**
 * Three tools, a typed answer, cancel, and a process that may be killed at any time. Run it with --slow, kill it with
 * kill -9 while write_file waits, and run it again without --slow: the turn continues where it stopped.
 * survive-ai-sdk.ts is the same program with the AI SDK.
 *
 *   npx tsx --tsconfig examples/tsconfig.json examples/survive.ts [folder] [--slow]
 */

import { join } from "node:path";

import { createAgent, emulator, fileStore, openai, tool } from "throughline";
import { z } from "zod";

import { appendNote, folder, listNotes, print, readNote, Report, TASK } from "./shared/notes.ts";

const baseUrl = process.env["OPENAI_BASE_URL"];
const agent = createAgent({
  model: baseUrl === undefined ? emulator() : openai("emu-reasoner", { baseUrl, apiKey: "example" }),
  tools: [
    tool({
      name: "list_files",
      description: "Lists the notes",
      input: z.object({ path: z.string() }),
      access: "read",
      idempotent: true,
      run: () => listNotes(),
    }),
    tool({
      name: "read_file",
      description: "Reads a note",
      input: z.object({ path: z.string() }),
      access: "read",
      idempotent: true,
      run: ({ path }) => readNote(path),
    }),
    tool({
      name: "write_file",
      description: "Appends to a note",
      input: z.object({ path: z.string(), content: z.string() }),
      access: "write",
      run: ({ path, content }, { signal }) => appendNote(path, content, signal),
    }),
  ],
  permissions: "auto",
});

// Everything is in the log, step by step: there is nothing to save and nothing to load.
await using session = await agent.open({ id: "survive", store: fileStore(join(folder, "sessions")) });
const turn = session.interrupted
  ? session.resume({ output: Report })
  : session.send(TASK, { output: Report });
process.once("SIGINT", () => turn.cancel());

const result = await turn.result();
print(result.status === "completed" ? JSON.stringify(result.output) : result.status);
