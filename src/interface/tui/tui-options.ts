/** The options of the interface, and its result. */

import type { SessionHandle } from "../../base/api/index.ts";
import type { ChatEnd, Ports } from "./commands.ts";
import type { ScreenOutput } from "./screen.ts";
import type { Style } from "./style.ts";

export interface TuiTerminal extends ScreenOutput {
  /** Switches the terminal to raw mode without echo. The returned function restores it. */
  start(on: { readonly input: (data: string) => void; readonly resize: () => void }): () => void;
  /** Suspends the process; resolves when it is in the foreground again. */
  readonly suspend?: () => Promise<void>;
}

export interface InputHistory {
  readonly entries: readonly string[];
  add(text: string): void;
}

export interface TuiOptions {
  readonly handle: SessionHandle;
  readonly terminal: TuiTerminal;
  readonly style: Style;
  readonly ports: Ports;
  /** Lists the files that an @ can name; absent if the session's files are not on this machine. */
  readonly files?: ((signal: AbortSignal) => Promise<readonly string[]>) | undefined;
  readonly history: InputHistory;
  /** The session's directory, or its server. */
  readonly directory: string;
  readonly now: () => number;
  /** Ends the interface from outside, for example on a signal. */
  readonly signal?: AbortSignal;
  /** Subscribes to messages of other parts of the program; the returned function unsubscribes. */
  readonly messages?: (listener: (text: string) => void) => () => void;
  /** Shown first. */
  readonly intro?: string;
  /** Sent at once. */
  readonly first?: string;
  /** The initial text of the input, given back by the interface of the previous session. */
  readonly draft?: string | undefined;
}

export type TuiEnd = ChatEnd & {
  /** Messages that were typed and not sent. */
  readonly unsent: readonly string[];
  /** True if a turn was running. */
  readonly working: boolean;
};
