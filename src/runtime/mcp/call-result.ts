/** The answer of a server to a call, as the model and the person get it. Everything in it is untrusted text. */

import {
  arrayOf,
  inertLine,
  isObject,
  type JsonObject,
  messageOf,
  stringOf,
} from "../../base/support/index.ts";
import { jsonSchemaValidator, type OutcomeImage, type ToolOutcome, toolOutcome } from "../tools/index.ts";
import { withoutPatterns } from "./without-patterns.ts";

/** More parts than this are counted, not read. */
const MOST_PARTS = 1000;

export function outcomeOf(result: JsonObject, outputSchema: JsonObject | undefined): ToolOutcome {
  const content = arrayOf(result["content"]);
  const read = content.slice(0, MOST_PARTS).map((part) => readPart(part));
  const model = read.filter(({ forPersonOnly }) => !forPersonOnly);
  const person = read.filter(({ forPersonOnly }) => forPersonOnly).map(({ text }) => text);
  const texts = model.map(({ text }) => text).filter((text) => text !== "");
  const structured = result["structuredContent"];
  const hasText = model.some(({ kind }) => kind === "text");
  if (structured !== undefined && !hasText) texts.push(JSON.stringify(structured));
  if (content.length > MOST_PARTS) texts.push(`[${content.length - MOST_PARTS} more parts were left out]`);
  const failed = result["isError"] === true;
  const misfit = failed || outputSchema === undefined ? undefined : misfitOf(structured, outputSchema);
  if (misfit !== undefined)
    texts.push(`[The tool ran, but its result does not fit the schema that the server declares: ${misfit}]`);
  return toolOutcome({
    status: failed ? "error" : "ok",
    text: texts.join("\n\n"),
    images: model.flatMap(({ image }) => image ?? []),
    forPerson: person.length === 0 ? undefined : person.join("\n\n"),
  });
}

interface ReadPart {
  readonly kind: "text" | "other";
  readonly text: string;
  readonly image?: OutcomeImage;
  readonly forPersonOnly: boolean;
}

function readPart(part: unknown): ReadPart {
  if (!isObject(part)) return { kind: "other", text: "[a part that cannot be read]", forPersonOnly: false };
  const { annotations } = part;
  const audience = isObject(annotations) ? arrayOf(annotations["audience"]) : [];
  const forPersonOnly = audience.length > 0 && audience.every((one) => one === "user");
  return { ...partText(part), forPersonOnly };
}

function partText(part: JsonObject): Omit<ReadPart, "forPersonOnly"> {
  const { type } = part;
  const data = stringOf(part["data"]) ?? "";
  const media = inertLine(stringOf(part["mimeType"]) ?? "of an unknown type", 80);
  if (type === "text") return { kind: "text", text: stringOf(part["text"]) ?? "" };
  if (type === "image") {
    const mediaType = stringOf(part["mimeType"]) ?? "";
    return { kind: "other", text: `[image ${media}, ${sizeOf(data)}]`, image: { mediaType, data } };
  }
  if (type === "audio") return { kind: "other", text: `[audio ${media}, ${sizeOf(data)}: not shown]` };
  if (type === "resource_link") return { kind: "other", text: linkText(part) };
  if (type === "resource" && isObject(part["resource"])) return resourceText(part["resource"]);
  return { kind: "other", text: `[a part of the type ${inertLine(JSON.stringify(type) ?? "none", 80)}]` };
}

function linkText(part: JsonObject): string {
  const said = ["name", "title", "mimeType", "description"].flatMap((name) => {
    const text = stringOf(part[name]);
    return text === undefined ? [] : [inertLine(text, 300)];
  });
  return `[resource ${inertLine(stringOf(part["uri"]) ?? "", 1000)}${said.length === 0 ? "" : `: ${said.join(", ")}`}]`;
}

/** The contents of a resource: its text, or what it is. */
export function resourceText(resource: JsonObject): Omit<ReadPart, "forPersonOnly"> {
  const uri = inertLine(stringOf(resource["uri"]) ?? "", 1000);
  const media = stringOf(resource["mimeType"]);
  const text = stringOf(resource["text"]);
  if (text !== undefined) return { kind: "text", text: `[resource ${uri}]\n${text}` };
  const data = stringOf(resource["blob"]) ?? "";
  const said = `[resource ${uri}: ${media === undefined ? "" : `${inertLine(media, 80)}, `}${sizeOf(data)}]`;
  if (media?.startsWith("image/") !== true) return { kind: "other", text: said };
  return { kind: "other", text: said, image: { mediaType: media, data } };
}

function sizeOf(base64: string): string {
  const bytes = Math.floor((base64.length * 3) / 4);
  if (bytes < 1024) return `${bytes} bytes`;
  return bytes < 1024 * 1024 ? `${Math.round(bytes / 1024)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

/** The tool ran whatever this says, so a misfit is a remark and never an error. */
function misfitOf(structured: unknown, schema: JsonObject): string | undefined {
  if (structured === undefined) return "it has no structured content";
  try {
    const verdict = jsonSchemaValidator(withoutPatterns(schema))(structured);
    return verdict.ok ? undefined : inertLine(verdict.message, 500);
  } catch (error) {
    return `the schema cannot be used: ${inertLine(messageOf(error), 200)}`;
  }
}
