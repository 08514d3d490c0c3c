/** What the interface is given, and what it gives back. */

import type { SessionHandle } from "../../base/api/index.ts";
import type { ChatEnd, Ports } from "./commands.ts";
import type { ScreenOutput } from "./screen.ts";
import type { Style } from "./style.ts";

export interface TuiTerminal extends ScreenOutput {
  /** Takes the terminal: keys come one by one and are not echoed. The result gives it back. */
  start(on: { readonly input: (data: string) => void; readonly resize: () => void }): () => void;
  /** Puts the process into the background; resolves when it is back. */
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
  /** What an @ can name; absent where the session's files are not on this machine. */
  readonly files?: ((signal: AbortSignal) => Promise<readonly string[]>) | undefined;
  readonly history: InputHistory;
  /** Where the session works: its directory, or its server. */
  readonly directory: string;
  readonly now: () => number;
  /** Ends the interface from outside: the process was told to stop. */
  readonly signal?: AbortSignal;
  /** What others say to the person meanwhile; the result ends it. */
  readonly messages?: (listener: (text: string) => void) => () => void;
  /** Told first. */
  readonly intro?: string;
  /** Sent at once. */
  readonly first?: string;
  /** Stands in the input at the start: what another session's interface gave back. */
  readonly draft?: string | undefined;
}

export type TuiEnd = ChatEnd & {
  /** Typed and not sent. */
  readonly unsent: readonly string[];
  /** A turn was under way. */
  readonly working: boolean;
};
