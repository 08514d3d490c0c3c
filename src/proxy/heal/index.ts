/** Heals requests whose history a provider refused, and remembers how. */

export { isAboutHistory } from "./classes.ts";
export { Healer } from "./healer.ts";
export { rememberRepair } from "./remember-repair.ts";
export { isKeptOut, repairAsBefore } from "./repair-as-before.ts";
