/** What the run and its node processes agree on. */

/** The argument of a node process, as JSON. */
export interface ChildPlan {
  readonly name: string;
  /** Through the proxy. */
  readonly storeUrl: string;
  /** For the tools, past the proxy. */
  readonly toolsUrl: string;
  readonly port: number;
  readonly token: string;
  readonly leaseMs: number;
  readonly drainMs: number;
  /** Added to the wall clock of this process. */
  readonly clockShiftMs: number;
  /** Gets a line `SESSION SEQ ID TIME` for each event whose append was acknowledged. */
  readonly acks: string;
  /** Gets a line `KEY TOOL TIME` each time a tool begins its work. */
  readonly ran: string;
}

/** May run again under the same key after a crash. All others run at most once. */
export const IDEMPOTENT_TOOL = "count_stock";

/** Runs only after a person allowed it. */
export const ASKING_TOOL = "send_letter";

/** How long the tool takes for this city. */
export const CITY_MS: Readonly<Record<string, number>> = { Paris: 5, Oslo: 150, Lima: 500, Quito: 1200 };

/** The prompts that make the built-in model call each tool. */
export const PROMPTS = {
  talk: (turn: string) => `Hello, this is ${turn}.`,
  long: () => "Write a long answer.",
  fast: () => "What is the weather in Paris?",
  slow: () => "What is the weather in Lima?",
  slowest: () => "What is the weather in Quito?",
  parallel: () => "What is the weather in Paris, Oslo and Lima?",
  serial: () => "Please write a note.",
  idempotent: () => "Please count the stock.",
  asking: () => "Please send a letter.",
} as const;
