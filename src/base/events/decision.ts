/** What happens to an event in a request, and why. The fold decides; `response_start.leftOut` records the reasons. */

/**
 * What happens to an event in a request. `replay`: sent as the provider wrote it. `translate`: sent as plain meaning.
 * `omit`: not sent.
 */
export type Action = "replay" | "translate" | "omit";

/** Why an event is in a request or not. docs/api.md lists the reasons; `Decision.why` explains one in words. */
export type Reason =
  | "user_input"
  | "same_origin"
  | "foreign_origin"
  | "response_incomplete"
  | "response_failed"
  | "response_cancelled"
  | "response_cut"
  | "response_open"
  | "superseded"
  | "no_follower"
  | "no_payload"
  | "id_invalid"
  | "id_repeated"
  | "item_not_replayable"
  | "unknown_type"
  | "empty"
  | "replay_policy"
  | "override"
  | "not_a_reasoning_model"
  | "prefix_changed"
  | "call_result"
  | "compacted"
  | "left_branch"
  | "for_people";

/** What becomes of one event in a request, and why. */
export interface Decision {
  readonly seq: number;
  /** The type of the event. */
  readonly type: string;
  readonly action: Action;
  readonly reason: Reason;
  /** A readable explanation, for people. */
  readonly why: string;
}
