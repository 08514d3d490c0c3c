/**
 * A session as a download. Which forms there are is the composition root's; without any it leaves as the bundle that
 * `throughline sessions import` takes.
 */

import { codedError } from "../../base/support/index.ts";
import { bundleText, readBundle, type Store } from "../../runtime/log/index.ts";

export interface ExportOptions {
  readonly format: string;
  readonly reasoning: boolean;
  /** Without what looks like a secret. */
  readonly redact: boolean;
}

export interface Exported {
  readonly mediaType: string;
  readonly fileName: string;
  readonly body: Iterable<Uint8Array>;
}

/** An unknown format is refused with `format_unknown`. */
export type ExportSession = (id: string, options: ExportOptions) => Promise<Exported>;

export function bundleExport(store: Store): ExportSession {
  return async (id, { format, reasoning, redact }) => {
    if (format !== "jsonl" || !reasoning || redact)
      throw codedError("format_unknown", "this server exports whole sessions as jsonl only");
    const log = await store.open(id, { mode: "read" });
    const bundle = await readBundle(log);
    await log.close();
    return { mediaType: "application/x-ndjson", fileName: `${id}.jsonl`, body: bundleText(bundle) };
  };
}
