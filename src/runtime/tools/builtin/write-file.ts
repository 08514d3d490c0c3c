/** write_file: creates a file with its parent directories, or replaces one as a whole. */

import { stringOf } from "../../../base/support/index.ts";
import { tool, type Tool } from "../tool.ts";
import { inTurn, writeAtomically } from "./write-atomically.ts";

export function writeFile(cwd: string): Tool {
  return tool({
    name: "write_file",
    description:
      "Writes a text file of the working directory: creates it, with missing directories, or replaces all of it. " +
      "To change a part of a file use edit_file.",
    access: "write",
    input: {
      type: "object",
      properties: { path: { type: "string" }, content: { type: "string" } },
      required: ["path", "content"],
      additionalProperties: false,
    },
    run: (input, { signal }) => {
      const content = stringOf(input["content"]) ?? "";
      return inTurn(cwd, async () => {
        signal.throwIfAborted();
        const { mode, shown } = await writeAtomically(cwd, stringOf(input["path"]) ?? "", content, signal);
        return `${mode === undefined ? "created" : "replaced"} ${shown} (${Buffer.byteLength(content)} bytes)`;
      });
    },
  });
}
