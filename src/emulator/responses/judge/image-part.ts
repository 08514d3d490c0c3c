/**
 * An image in the output of a call (openai 7.53 responses.d.ts, `ResponseInputImageContent`): a URL, a data URL or a
 * file.
 */

import type { ApiRefusal } from "../../api-refusal.ts";
import { IMAGE_TYPES, isBase64, parseDataUrl } from "../../shape/image-data.ts";
import { by, ensure, orNull, type Row, rows } from "../../shape/shape-rows.ts";
import { imageData, imageUrl } from "./refusals.ts";
import { responsesRows } from "./shape-words.ts";

const { field, is, oneOf, only, required } = responsesRows;

const fields = ["type", "image_url", "file_id", "detail", "prompt_cache_breakpoint"];

export const outputImage: Row<ApiRefusal> = rows(
  only(fields),
  by((part) => (typeof part["file_id"] === "string" ? undefined : field("image_url", required()))),
  field("file_id", orNull(is("string"))),
  field("detail", orNull(is("string"), oneOf(["low", "high", "auto", "original"]))),
  field(
    "image_url",
    orNull(
      is("string"),
      ensure((url: string) => /^(?:https?:\/\/\S|data:)/i.test(url), imageUrl),
      (url, path) => (typeof url === "string" && /^data:/i.test(url) ? dataRefusal(url, path) : undefined),
    ),
  ),
);

function dataRefusal(url: string, path: string): ApiRefusal | undefined {
  const parsed = parseDataUrl(url);
  if (parsed === undefined) return imageData(path, "a value without base64-encoded bytes");
  const { mediaType, data } = parsed;
  if (!IMAGE_TYPES.includes(mediaType)) return imageData(path, `unsupported MIME type '${mediaType}'`);
  if (data === "") return imageData(path, "empty base64-encoded bytes");
  return isBase64(data) ? undefined : imageData(path, "an invalid base64-encoded value");
}
