/**
 * What a session that is to be killed and its judge agree on.
 *
 * @module
 */

export interface KilledPlan {
  readonly folder: string;
  readonly baseUrl: string;
  readonly model: string;
  readonly prompts: readonly string[];
  /** Finish what an earlier process left, instead of a new turn. */
  readonly resume: boolean;
  /** The file in which the tool records that it took effect. */
  readonly effects: string;
  /** Where it kills itself: a place in its log or in its tool. */
  readonly die?: DiePoint;
}

export type DiePoint =
  /** How many bytes of the nth write have reached the file. */
  | { readonly at: "write"; readonly nth: number; readonly bytes: number }
  | { readonly at: "sync"; readonly nth: number; readonly when: "before" | "after" }
  | { readonly at: "tool"; readonly nth: number; readonly when: "before" | "after" };

export const SESSION = "killed";
