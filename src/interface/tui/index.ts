/** The terminal interface: components that render rows, a screen that paints inline, and an app over a session handle. */

export { runTui } from "./app.ts";
export { type CommandHost, type ChatEnd, type Ports, runSlashCommand } from "./commands.ts";
export {
  actionOf,
  elicitationLines,
  elicitationTitle,
  emptyMeans,
  fieldLabel,
  fieldLines,
  shownValue,
} from "./elicitation-words.ts";
export { helpText } from "./help.ts";
export { argumentRows } from "./permission-prompt.ts";
export type { Choice } from "./picker.ts";
export { createStyle } from "./style.ts";
export type { InputHistory, TuiTerminal } from "./tui-options.ts";
