/** Traces (what exactly happened), recordings, and their playback. */

export { type LogSink, tapStore } from "./log-tap.ts";
export { playbackFetch } from "./playback-fetch.ts";
export { createPrivateFile } from "./private-file.ts";
export { readRecording, type Recording } from "./read-recording.ts";
export { TraceWriter, type TraceWriterOptions } from "./trace-writer.ts";
export { type SeenRequest, tapFetch, type WireSink } from "./wire-tap.ts";
