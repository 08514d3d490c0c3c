/** What happens to an event in a request, and why. The fold decides; `response_start.leftOut` records the reasons. */

/** replay: the provider's own text. translate: plain meaning. omit: not sent. */
export type Action = "replay" | "translate" | "omit";

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

export interface Decision {
  readonly seq: number;
  readonly type: string;
  readonly action: Action;
  readonly reason: Reason;
  /** A readable explanation, for people. */
  readonly why: string;
}
