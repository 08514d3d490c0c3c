/** Offers the formats of `sessions export` as the server's download. */

import type { ExportSession } from "../../../access/server/index.ts";
import { codedError } from "../../../base/support/index.ts";
import type { CostOf } from "../../../runtime/facts/index.ts";
import { readBundle } from "../../../runtime/log/index.ts";
import { EXPORT_FORMATS, exportForm, FORM_FILES } from "./export-forms.ts";

export function sessionDownload(costOf?: CostOf): ExportSession {
  return async (id, { store, ...options }) => {
    const format = EXPORT_FORMATS.find((one) => one === options.format);
    if (format === undefined)
      throw codedError("format_unknown", `unknown format; use one of ${EXPORT_FORMATS.join(", ")}`);
    const log = await store.open(id, { mode: "read" });
    const bundle = await readBundle(log);
    await log.close();
    const { extension, mediaType } = FORM_FILES[format];
    const { pieces } = exportForm(bundle, id, { ...options, format, costOf });
    return { mediaType, fileName: `${id}.${extension}`, body: pieces };
  };
}
