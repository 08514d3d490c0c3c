/** Seeing exactly what happened, and seeing it again: traces, recordings, playback. */

export { type LogSink, tapStore } from "./log-tap.ts";
export { playbackFetch } from "./playback-fetch.ts";
export { createPrivateFile } from "./private-file.ts";
export { readRecording, type Recording } from "./read-recording.ts";
export { TraceWriter, type TraceWriterOptions } from "./trace-writer.ts";
export { type SeenRequest, tapFetch, type WireSink } from "./wire-tap.ts";
