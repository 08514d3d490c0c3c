/**
 * A session as a download. The composition root supplies the formats; without any, the session is exported as the
 * bundle that `throughline sessions import` reads.
 */

import { codedError } from "../../base/support/index.ts";
import { bundleText, readBundle, type Store } from "../../runtime/log/index.ts";

/** How a client wants to download a session. */
export interface ExportOptions {
  /** The name of a format, such as "jsonl". */
  readonly format: string;
  /** Whether to include reasoning. */
  readonly reasoning: boolean;
  /** Whether to remove anything that looks like a secret. */
  readonly redact: boolean;
  /** The sessions of the client's tenant. Read from here: the server's own store may have a session of the same name. */
  readonly store: Store;
}

/** A session as a download. */
export interface Exported {
  readonly mediaType: string;
  readonly fileName: string;
  readonly body: Iterable<Uint8Array>;
}

/** Exports a session for a download. Rejects an unknown format with `format_unknown`. */
export type ExportSession = (id: string, options: ExportOptions) => Promise<Exported>;

export const bundleExport: ExportSession = async (id, { format, reasoning, redact, store }) => {
  if (format !== "jsonl" || !reasoning || redact)
    throw codedError("format_unknown", "this server exports only complete sessions, as jsonl");
  const log = await store.open(id, { mode: "read" });
  const bundle = await readBundle(log);
  await log.close();
  return { mediaType: "application/x-ndjson", fileName: `${id}.jsonl`, body: bundleText(bundle) };
};
