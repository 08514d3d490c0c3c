/**
 * Lint of histories.
 *
 * @module
 */

export { type CheckedInput, checkInput, type Finding, findingsOf } from "./check-input.ts";
