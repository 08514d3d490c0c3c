/** Blocks of formats that do not keep the wire's JSON, as the items of an answer. */

import type { Block, FoundBlock } from "../block-history.ts";
import type { HistoryDialect } from "../history.ts";
import { projectChat } from "../project-chat.ts";
import { blockText } from "../project-messages.ts";
import { projectResponses } from "../project-responses.ts";

export function answerItems(dialect: HistoryDialect, found: readonly FoundBlock[]): readonly string[] {
  const blocks = found.map((block): Block => ({ ...block, message: "", element: 0, path: [], where: "" }));
  if (dialect === "anthropic-messages") return blocks.map(blockText);
  const pieces = dialect === "openai-responses" ? projectResponses(blocks) : projectChat(blocks);
  return pieces.map(({ text }) => text);
}
