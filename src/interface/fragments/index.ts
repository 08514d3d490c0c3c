/** Turns events into fragments and fragments into the blocks that a viewer draws. Pure; runs in a browser. */

export type {
  Block,
  BlockPart,
  BlockElicitation,
  BlockPermission,
  BlockQuestion,
  NoticeBlock,
  ReasoningBlock,
  TextBlock,
  ToolBlock,
  TurnEndBlock,
  UserBlock,
} from "./block.ts";
export { BlockList, blocksOf } from "./blocks.ts";
export { formatDuration } from "./duration.ts";
export type { Fragment } from "./fragment.ts";
export { fragmentsOf } from "./from-event.ts";
export { reasoningLabel } from "./labels.ts";
export { mcpQuestionLines, toolLabel, ToolNames } from "./tool-names.ts";
