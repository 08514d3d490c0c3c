/**
 * Conformance: our requests against any Responses server, and which rules and shapes hold there. A list of probes, all
 * of one shape; from the answers a profile is suggested.
 */

export { listModels } from "./list-models.ts";
export { toTable } from "./render-report.ts";
export { conform, type ConformOptions, type ConformReport, type ProbeResult, selectProbes } from "./run.ts";
