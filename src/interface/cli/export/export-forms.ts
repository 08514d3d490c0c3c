/**
 * A session in the forms it can leave in, wherever it was asked for: `sessions export`, `/export` of the chat, and the
 * server's download. One place, so that a form is the same everywhere.
 */

import { factsOf } from "../../../runtime/facts/index.ts";
import { bundleText, eraseFrom, type EraseReport, type SessionBundle } from "../../../runtime/log/index.ts";
import { blocksOf } from "../../fragments/index.ts";
import { toHtml } from "./html.ts";
import { type ExportView, toMarkdown } from "./markdown.ts";
import { privateAddresses, secretReplacer } from "./secret-patterns.ts";
import { withoutReasoning } from "./without-reasoning.ts";

export const EXPORT_FORMATS = ["jsonl", "markdown", "html"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export interface ExportForm {
  readonly format: ExportFormat;
  readonly reasoning: boolean;
  /** Without what looks like a secret, and without this environment's keys. */
  readonly redact: boolean;
}

export interface ExportedForm {
  readonly pieces: Iterable<Buffer>;
  /** What was redacted, where that was asked for. */
  readonly erased?: EraseReport;
}

export const FORM_FILES: Readonly<
  Record<ExportFormat, { readonly extension: string; readonly mediaType: string }>
> = {
  jsonl: { extension: "jsonl", mediaType: "application/x-ndjson" },
  markdown: { extension: "md", mediaType: "text/markdown; charset=utf-8" },
  html: { extension: "html", mediaType: "text/html; charset=utf-8" },
};

export function exportForm(whole: SessionBundle, id: string, form: ExportForm): ExportedForm {
  const thoughtless = form.reasoning ? whole : withoutReasoning(whole);
  if (!form.redact) return { pieces: piecesOf(thoughtless, id, form) };
  const replace = secretReplacer(process.env, privateAddresses(thoughtless.lines));
  const { bundle, report } = eraseFrom(thoughtless, replace);
  return { pieces: piecesOf(bundle, id, form), erased: report };
}

function* piecesOf(bundle: SessionBundle, id: string, { format, reasoning }: ExportForm): Generator<Buffer> {
  if (format === "jsonl") {
    yield* bundleText(bundle);
    return;
  }
  const view: ExportView = {
    title: factsOf(bundle.events).title ?? "",
    id,
    startedAt: bundle.events[0]?.at ?? "",
    blocks: blocksOf(bundle.events, { writerAlive: false }),
    reasoning,
  };
  yield Buffer.from(format === "html" ? toHtml(view) : toMarkdown(view));
}
