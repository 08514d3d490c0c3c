/**
 * The program of survive.ts with the AI SDK. It saves the messages after every step, as the documentation of
 * `onStepFinish` suggests, and continues from them.
 *
 *   npx tsx --tsconfig examples/tsconfig.json examples/survive-ai-sdk.ts [folder] [--slow]
 */

import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createOpenAI } from "@ai-sdk/openai";
import { generateText, type ModelMessage, Output, stepCountIs, tool } from "ai";
import { startEmulator } from "throughline/emulator";
import { z } from "zod";

import { appendNote, folder, listNotes, print, readNote, Report, TASK } from "./shared/notes.ts";

const baseURL = process.env["OPENAI_BASE_URL"] ?? (await startEmulator({ unref: true })).baseUrl;
const openai = createOpenAI({ baseURL, apiKey: "example" });

const file = join(folder, "messages.json");
const load = (): ModelMessage[] =>
  existsSync(file)
    ? (JSON.parse(readFileSync(file, "utf8")) as ModelMessage[])
    : [{ role: "user", content: TASK }];
const save = (messages: readonly ModelMessage[]): void => {
  writeFileSync(`${file}.new`, JSON.stringify(messages));
  renameSync(`${file}.new`, file);
};

const stop = new AbortController();
process.once("SIGINT", () => stop.abort());

const messages = load();
save(messages);
try {
  const { output } = await generateText({
    model: openai.responses("emu-reasoner"),
    messages,
    tools: {
      list_files: tool({
        description: "Lists the notes",
        inputSchema: z.object({ path: z.string() }),
        execute: () => listNotes(),
      }),
      read_file: tool({
        description: "Reads a note",
        inputSchema: z.object({ path: z.string() }),
        execute: ({ path }) => readNote(path),
      }),
      write_file: tool({
        description: "Appends to a note",
        inputSchema: z.object({ path: z.string(), content: z.string() }),
        execute: ({ path, content }, { abortSignal }) => appendNote(path, content, abortSignal),
      }),
    },
    output: Output.object({ schema: Report }),
    stopWhen: stepCountIs(10),
    abortSignal: stop.signal,
    // Reasoning comes back encrypted, so that it can be saved with the messages.
    providerOptions: { openai: { store: false, include: ["reasoning.encrypted_content"] } },
    onStepFinish: ({ response }) => save([...messages, ...response.messages]),
  });
  print(JSON.stringify(output));
} catch (error) {
  if (!stop.signal.aborted) throw error;
  print("cancelled");
}
