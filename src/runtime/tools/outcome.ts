/**
 * What a tool returns if a text does not say enough: how the call ended, images, and text for the person only. Made by
 * the tools of MCP servers.
 */

/** Registered, because a tools file may load another copy of the package than the command line. */
const OUTCOME = Symbol.for("throughline.outcome/1");

export interface OutcomeImage {
  readonly mediaType: string;
  /** Base64. */
  readonly data: string;
}

export interface ToolOutcome {
  readonly [OUTCOME]: true;
  /** `outcome_unknown`: whether the call took effect is not known, so it is never repeated. */
  readonly status: "ok" | "error" | "outcome_unknown";
  /** What the model reads, exactly. */
  readonly text: string;
  /** For models that accept images. The text names them for all others. */
  readonly images: readonly OutcomeImage[];
  /** Shown to the person and never sent. */
  readonly forPerson?: string | undefined;
}

export function toolOutcome(outcome: {
  readonly status: ToolOutcome["status"];
  readonly text: string;
  readonly images?: readonly OutcomeImage[] | undefined;
  readonly forPerson?: string | undefined;
}): ToolOutcome {
  const { status, text, images = [], forPerson } = outcome;
  return { [OUTCOME]: true, status, text, images, forPerson };
}

export function isToolOutcome(value: unknown): value is ToolOutcome {
  return typeof value === "object" && value !== null && OUTCOME in value;
}
