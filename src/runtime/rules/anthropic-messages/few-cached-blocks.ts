import type { MessagesRule } from "./message-view.ts";

const MAX_CACHED_BLOCKS = 4;

export const fewCachedBlocks: MessagesRule = {
  id: "M21",
  title: "At most four blocks carry cache_control",
  evidence: "K01",
  todo: "Keep only the last four.",
  start({ cachedBlocks }) {
    let found = cachedBlocks;
    let last = 0;
    return {
      item({ index, blocks }) {
        const cached = blocks.filter((block) => block.cached).length;
        found += cached;
        if (cached > 0) last = index;
        return undefined;
      },
      end() {
        if (found <= MAX_CACHED_BLOCKS) return [];
        const message = `A maximum of ${MAX_CACHED_BLOCKS} blocks with cache_control may be provided. Found ${found}.`;
        return [{ index: last, message }];
      },
    };
  },
};
