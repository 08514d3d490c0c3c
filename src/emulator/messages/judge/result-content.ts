/**
 * The content of a result: which blocks it may have, and what its images must be (@anthropic-ai/sdk 1.8.0 beta
 * messages.d.ts, `BetaToolResultBlockParam`).
 */

import { arrayOf, isObject } from "../../../base/support/index.ts";
import type { ApiRefusal } from "../../api-refusal.ts";
import { IMAGE_TYPES, isBase64, typeOfBytes } from "../../shape/image-data.ts";
import { by, type Row, rows } from "../../shape/shape-rows.ts";
import {
  emptyText,
  imageBase64,
  imageTooLarge,
  imageTypeWrong,
  imageUnreadable,
  onlyTextInError,
  unknownTag,
} from "../refusals.ts";
import { messagesRows } from "./shape-words.ts";

const { each, field, is, mustBe, oneOf, only, required, under } = messagesRows;

const blockTypes = ["document", "image", "search_result", "text", "tool_reference"];

/** Counted in base64 (earendil-works/pi#824). */
const largestImage = 5 * 1024 * 1024;

/** Base64 with its type: first the fields, then the bytes. */
const base64Source = under(
  "base64",
  field("media_type", required(), oneOf(IMAGE_TYPES)),
  field("data", required(), is("string")),
  only(["type", "media_type", "data"]),
  (source, path) => (isObject(source) ? bytesRefusal(source, path) : undefined),
);

const sources: Readonly<Record<string, Row<ApiRefusal>>> = {
  base64: base64Source,
  file: under("file", field("file_id", required(), is("string")), only(["type", "file_id"])),
  url: under("url", field("url", required(), is("string")), only(["type", "url"])),
};

const image = under(
  "image",
  only(["type", "source", "cache_control", "transformations"]),
  field(
    "source",
    required(),
    is("object"),
    field("type", mustBe("string")),
    by(({ type }) => {
      const known = Object.hasOwn(sources, String(type)) ? sources[String(type)] : undefined;
      return known ?? ((_, path) => unknownTag(path, String(type), Object.keys(sources)));
    }),
  ),
);

function bytesRefusal(source: Readonly<Record<string, unknown>>, path: string): ApiRefusal | undefined {
  const data = String(source["data"]);
  const mediaType = String(source["media_type"]);
  if (!isBase64(data)) return imageBase64(path);
  if (data.length > largestImage) return imageTooLarge(path, data.length, largestImage);
  const found = typeOfBytes(data);
  if (found === undefined) return imageUnreadable();
  return found === mediaType ? undefined : imageTypeWrong(path, mediaType, found);
}

const text = under(
  "text",
  field("text", required(), is("string"), (value) => (value === "" ? emptyText("messages") : undefined)),
);

/** For a whole `tool_result` block. */
export const resultContent: Row<ApiRefusal> = rows(
  field(
    "content",
    is(["string", "array"], "a valid list"),
    each(
      is("object"),
      field("type", mustBe("string")),
      by(({ type }) => {
        if (type === "text") return text;
        if (type === "image") return image;
        return blockTypes.includes(String(type))
          ? undefined
          : (_, path) => unknownTag(path, String(type), blockTypes);
      }),
    ),
  ),
  by(({ is_error: failed, content }) => {
    const mixed = arrayOf(content).some((block) => isObject(block) && block["type"] !== "text");
    return failed === true && mixed ? (_, path) => onlyTextInError(path) : undefined;
  }),
);
