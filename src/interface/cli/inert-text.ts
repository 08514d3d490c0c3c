/** Makes untrusted text safe for a terminal; see `support/inert-text.ts`, which the terminal interface uses too. */

export { inert, inertJson, inertLine } from "../../base/support/index.ts";
