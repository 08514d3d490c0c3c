/** The events of a question that a running tool asks a person. The values that the person types are in neither. */

import type { Envelope } from "./canonical.ts";
import type { Elicitation, ElicitationField } from "./elicitation.ts";

export interface ElicitationRequest extends Envelope {
  readonly type: "elicitation_request";
  readonly response: string;
  readonly callId: string;
  readonly requestId: string;
  readonly server: string;
  readonly message: string;
  readonly mode: "form" | "url";
  /** With `mode: "form"`. */
  readonly fields?: readonly ElicitationField[] | undefined;
  /** With `mode: "url"`. */
  readonly url?: string | undefined;
}

export interface ElicitationAnswerEvent extends Envelope {
  readonly type: "elicitation_answer";
  readonly response: string;
  readonly callId: string;
  readonly requestId: string;
  readonly action: "accept" | "decline" | "cancel";
  readonly by: "person" | "policy";
  readonly reason?: string | undefined;
}

/** The question of an event, as the server asked it. */
export function elicitationOf(event: ElicitationRequest): Elicitation {
  const { server, message, mode, fields = [], url = "" } = event;
  return mode === "form" ? { server, message, mode, fields } : { server, message, mode, url };
}
