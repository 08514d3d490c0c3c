/**
 * In-memory tools for the emulator's documented prompts: some succeed, some throw, some can be denied.
 *
 * @module
 */

import { tool, type Tool, type ToolContext } from "../../src/index.ts";
import { type JsonValueSchema, text } from "./tool-schema.ts";

export interface ToolHooks {
  /** Called when a tool starts; may cancel the turn. */
  began(name: string, context: ToolContext): void;
}

export function practiceTools(hooks: ToolHooks): readonly Tool[] {
  const make = (
    name: string,
    access: "read" | "write" | "execute",
    input: JsonValueSchema,
    run: (input: Readonly<Record<string, unknown>>) => unknown,
    idempotent = false,
  ): Tool =>
    tool({
      name,
      description: `Practice: ${name}`,
      input,
      access,
      idempotent,
      run: async (value, context) => {
        hooks.began(name, context);
        context.progress(`${name} is at work`);
        await Promise.resolve();
        return run(value);
      },
    });
  return [
    make("list_files", "read", text("path"), () => "README.md\nnotes.txt\nsrc/index.ts", true),
    make("read_file", "read", text("path"), ({ path }) => {
      if (String(path).includes("does-not-exist")) throw new Error(`ENOENT: no such file ${String(path)}`);
      return `# ${String(path)}\n\nTODO: “nothing” \u2028 to see \\ here 👋\n`;
    }),
    make("search_files", "read", text("pattern"), ({ pattern }) => ({
      matches: [`notes.txt:3: ${String(pattern)}`],
    })),
    make("write_file", "write", text("path", "content"), () => undefined),
    make("edit_file", "write", text("path", "find", "replace"), () => "1 replacement"),
    make("run_command", "execute", text("command"), () => "Thu Jan 1 00:00:00 UTC 1970"),
    make("get_weather", "read", text("city"), ({ city }) => {
      if (city === "Oslo") throw new Error("the weather station in Oslo does not answer");
      return `Sunny in ${String(city)}, 21 °C`;
    }),
  ];
}
