/**
 * Conformance: sends our requests to any Responses server and reports which rules and formats hold there. The probes are a
 * list of the same interface. A profile is suggested from their answers.
 */

export { listModels } from "./list-models.ts";
export { toTable } from "./render-report.ts";
export { conform, type ConformOptions, type ConformReport, type ProbeResult, selectProbes } from "./run.ts";
