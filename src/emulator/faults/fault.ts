/**
 * Faults: what a provider, a proxy or the network does wrong. One union for options, scenario files and the request
 * header; `faultNames` is the documented list.
 */

/**
 * Where in a stream a fault strikes. As text: `before-item:1`, `after-item:0`, `after-event:7`, `after-byte:512`.
 * Indexes start at 0; bytes are a count.
 */
export interface FaultPoint {
  readonly where: "before" | "after";
  readonly unit: "item" | "event" | "byte";
  readonly index: number;
}

/** Something that a provider, a proxy or the network does wrong, for one request. */
export type Fault =
  /** Does nothing, but takes a place in the list. */
  | { readonly type: "none" }
  /** Several at once, for one request. */
  | { readonly type: "all"; readonly faults: readonly Fault[] }
  /** The body ends early but cleanly, as behind a proxy that lost its upstream. */
  | { readonly type: "end"; readonly at: FaultPoint }
  /** The connection ends (FIN) in the middle of the body. */
  | { readonly type: "cut"; readonly at: FaultPoint }
  /** The connection breaks (RST). */
  | { readonly type: "reset"; readonly at: FaultPoint }
  /** Nothing more arrives; the connection stays open until the client leaves. */
  | { readonly type: "stall"; readonly at: FaultPoint }
  | { readonly type: "slow"; readonly delayMs: number }
  /** An HTTP error instead of an answer, with headers. */
  | {
      readonly type: "http";
      readonly status: number;
      readonly code?: string | undefined;
      readonly message?: string | undefined;
      readonly headers?: Readonly<Record<string, string>> | undefined;
    }
  /** A proxy's page instead of JSON. */
  | { readonly type: "html"; readonly status: number }
  | {
      readonly type: "incomplete";
      readonly reason: string;
      /** The number of whole items before the end; the next message, if any, is cut in half. */
      readonly items: number;
    }
  /** `response.failed` after this many good items (all, if absent). */
  | {
      readonly type: "failed";
      readonly code: string;
      readonly message?: string | undefined;
      readonly items?: number | undefined;
    }
  /** An `error` event: nested (real wire, `response.failed` follows) or flat (SDK types, nothing follows). */
  | {
      readonly type: "error-event";
      readonly shape: "nested" | "flat";
      readonly code?: string | undefined;
      readonly message?: string | undefined;
      readonly items?: number | undefined;
    }
  /** E12: HTTP 200, then the refusal inside the stream. */
  | { readonly type: "invalid-encrypted-content" }
  /** All earlier ciphertext becomes unreadable before this request is judged. */
  | { readonly type: "rotate-key" }
  /** Azure: ciphertext only in the terminal event. */
  | { readonly type: "late-ciphertext" }
  /** I08, Copilot: another id in every event. */
  | { readonly type: "rotate-ids"; readonly length?: number | undefined }
  /** R05: no deltas, no part events. */
  | { readonly type: "done-only" }
  /** R01: a clean end without a terminal event. */
  | { readonly type: "no-terminal" }
  /** R04: `output` of the terminal event is empty, or the key is missing. */
  | { readonly type: "empty-output" }
  | { readonly type: "missing-output" }
  | { readonly type: "double-terminal" }
  /** A gateway that started over: this many events of an abandoned response, then the whole stream of another. */
  | { readonly type: "spliced-start"; readonly events: number }
  /** U10: an unknown event type. */
  | { readonly type: "unknown-event"; readonly index?: number | undefined }
  /** An unknown output item type, before the last item. */
  | { readonly type: "unknown-item" }
  | { readonly type: "duplicate-event"; readonly index: number }
  | { readonly type: "drop-event"; readonly index: number }
  /** Event `index` and the next one trade places. */
  | { readonly type: "swap-events"; readonly index: number }
  /** The JSON of this event is cut in the middle. */
  | { readonly type: "bad-json"; readonly index: number }
  | { readonly type: "crlf" }
  | { readonly type: "bom" }
  /** Bytes are written in chunks of this size, even inside UTF-8 characters. */
  | { readonly type: "split"; readonly bytes: number }
  /** A `keepalive` event after every `every` events. */
  | { readonly type: "keepalive"; readonly every: number };

export type FaultName = Fault["type"];
