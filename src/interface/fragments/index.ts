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
export { liveThoughtFacts, reasoningLabel, SUPERSEDED_LABEL, waitedLabel, workedLabel } from "./labels.ts";
export {
  nextRequestWords,
  NO_MARKS,
  type ThoughtCount,
  ThoughtMarks,
  thoughtsGoingWords,
  type UnsentThought,
} from "./thought-marks.ts";
export { mcpQuestionLines, toolLabel, ToolNames } from "./tool-names.ts";
export {
  exitCode,
  resultOutcome,
  TOOL_STATUS_WORDS,
  type ToolOutcome,
  type ToolTitle,
  toolTitle,
} from "./tool-titles.ts";
export type { BlockVersion, BlockVersions } from "./versions.ts";
export { openWaitMs, workedMs } from "./waits.ts";
