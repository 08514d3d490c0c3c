/** Knows answers again, and puts back what a client lost of them. */

export {
  type Beginning,
  beginningOf,
  beginsWith,
  type Body,
  elementText,
  openAfter,
  fromWire,
  openWire,
  toWire,
  wireBytes,
  withEdits,
  withElements,
} from "./body.ts";
export { Matcher, type Match } from "./match.ts";
export { asInputItem } from "./put-back.ts";
export { requestFacts, type RequestFacts } from "./request-facts.ts";
export { restore, type Restored, whereOf } from "./restore.ts";
export { sentPrefixes } from "./sent-prefix.ts";
export type { Target } from "./target.ts";
