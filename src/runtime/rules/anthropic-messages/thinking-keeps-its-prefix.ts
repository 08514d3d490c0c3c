import { isThinking, type MessagesRule } from "./message-view.ts";

export const thinkingKeepsItsPrefix: MessagesRule = {
  id: "M04",
  title: "On a model that binds thinking, the content before it is unchanged",
  evidence: "C04",
  todo: "Leave this block and all later ones out.",
  item({ index, blocks, prefixChanged }) {
    const block = prefixChanged === true ? blocks.find(isThinking) : undefined;
    if (block === undefined) return undefined;
    const message = `messages.${index}.content.${block.part}: Invalid \`signature\` in \`thinking\` block. The block is bound to a different conversation. Remove the block, or set \`thinking.block_binding.prefix_mismatch_behavior\` to "drop_block".`;
    return { index, part: block.part, message };
  },
};
