/** The export formats of a session, shared by `sessions export`, the chat's `/export`, and the server's download. */

import { type CostOf, factsOf } from "../../../runtime/facts/index.ts";
import { bundleText, eraseFrom, type EraseReport, type SessionBundle } from "../../../runtime/log/index.ts";
import { blocksOf } from "../../fragments/index.ts";
import { costsWith } from "../cost.ts";
import { toHtml } from "./html.ts";
import { type ExportView, toMarkdown } from "./markdown.ts";
import { privateAddresses, secretReplacer } from "./secret-patterns.ts";
import { withoutReasoning } from "./without-reasoning.ts";

export const EXPORT_FORMATS = ["jsonl", "markdown", "html"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export interface ExportForm {
  readonly format: ExportFormat;
  readonly reasoning: boolean;
  /** Removes text that looks like a secret, and the keys in this environment. */
  readonly redact: boolean;
  /** Default: the prices of the built-in table. */
  readonly costOf?: CostOf | undefined;
}

export interface ExportedForm {
  readonly pieces: Iterable<Buffer>;
  /** What was redacted, if redaction was requested. */
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

function* piecesOf(
  bundle: SessionBundle,
  id: string,
  { format, reasoning, costOf = costsWith({}) }: ExportForm,
): Generator<Buffer> {
  if (format === "jsonl") {
    yield* bundleText(bundle);
    return;
  }
  const facts = factsOf(bundle.events, costOf);
  const view: ExportView = {
    title: facts.title ?? "",
    id,
    startedAt: bundle.events[0]?.at ?? "",
    endedAt: bundle.events.at(-1)?.at ?? "",
    models: [...new Set(facts.requests.map(({ start }) => `${start.origin.provider}/${start.origin.model}`))],
    turns: facts.turns.size,
    usage: facts.usage,
    costUsd: facts.costUsd,
    blocks: blocksOf(bundle.events, { writerAlive: false }),
    reasoning,
  };
  yield Buffer.from(format === "html" ? toHtml(view) : toMarkdown(view));
}
