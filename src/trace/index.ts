/**
 * Seeing exactly what happened, and seeing it again: traces, recordings, playback, redaction.
 *
 * @module
 */

export { type LogSink, tapStore } from "./log-tap.ts";
export { playbackFetch, type PlaybackOptions, type RequestDifference } from "./playback-fetch.ts";
export { createPrivateFile, type PrivateFile } from "./private-file.ts";
export { readRecording, type RecordedExchange, type Recording } from "./read-recording.ts";
export type { RunFacts } from "./records.ts";
export { createRedactor, secretsOf } from "./redact.ts";
export { TraceWriter, type TraceWriterOptions } from "./trace-writer.ts";
export { type SeenError, type SeenRequest, tapFetch, type WireSink } from "./wire-tap.ts";
