import type { Problem } from "../rule.ts";
import type { BlockView, MessagesRule } from "./message-view.ts";

export const serverPairsAreWhole: MessagesRule = {
  id: "M24",
  title: "A provider-run call and its result are sent together",
  evidence: "C19",
  todo: "Leave out the half that is alone, or send the other half.",
  start() {
    /** Calls without a result so far, and the problem to report for each. */
    const open = new Map<string, Problem>();
    const answered = new Set<string>();
    return {
      item({ index, role, blocks }) {
        // After a pause, or after results of our own tools, the API continues with its calls; after user text it does
        // not.
        const ends = role === "user" && blocks.some(({ type }) => type !== "tool_result");
        const found: Problem[] = ends ? [...open.values()] : [];
        if (ends) for (const calls of [open, answered]) calls.clear();
        for (const block of blocks) {
          const { part, type, id, toolUseId } = block;
          if (isServerCall(block) && id !== undefined) {
            open.set(id, { index, part, message: alone(`messages.${index}.content.${part}`, block, id) });
          } else if (isServerResult(type) && toolUseId !== undefined) {
            if (open.delete(toolUseId)) answered.add(toolUseId);
            else if (!answered.has(toolUseId)) {
              const message = `messages.${index}.content.${part}: unexpected \`tool_use_id\` found in \`${type}\` blocks: ${toolUseId}. Each \`${type}\` block must have a corresponding \`${type === "mcp_tool_result" ? "mcp_tool_use" : "server_tool_use"}\` block before it.`;
              found.push({ index, part, message });
            }
          }
        }
        return found;
      },
    };
  },
};

function isServerCall({ type }: BlockView): boolean {
  return /._tool_use$/.test(type);
}

function isServerResult(type: string): boolean {
  return /._tool_result$/.test(type);
}

function alone(at: string, { type, name = "" }: BlockView, id: string): string {
  const tool = type === "mcp_tool_use" ? "mcp" : name.replace(/_(?:regex|bm25)$/, "").replace(/_tool$/, "");
  return `${at}: \`${name}\` tool use with id \`${id}\` was found without a corresponding \`${tool}_tool_result\` block`;
}
