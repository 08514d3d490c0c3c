/**
 * Checks each input item on its own: its type, its fields, its id. Refuses in the order of the live API's schema layer,
 * which answers before any rule about the history as a whole (groups B, D and E of failures.md).
 */

import { type JsonObject, stringOf } from "../../../base/support/index.ts";
import type { ApiRefusal } from "../../api-refusal.ts";
import { idPrefixes } from "../../seal.ts";
import { by, ensure, orNull, readAs, type Row, rows } from "../../shape/shape-rows.ts";
import type { Switches } from "../../switches.ts";
import { outputImage } from "./image-part.ts";
import { type ItemFields, itemFields } from "./item-fields.ts";
import {
  badCallName,
  badIdCharacters,
  badIdPrefix,
  invalidType,
  invalidValue,
  missingParameter,
  unknownParameter,
} from "./refusals.ts";
import { noLongerThan, notEmpty, responsesRows } from "./shape-words.ts";

const { each, field, is, mustBe, mustBeOneOf, oneOf, only, required } = responsesRows;

const roles = ["assistant", "system", "developer", "user"];
const userParts = [
  "input_text",
  "input_image",
  "output_text",
  "refusal",
  "input_file",
  "computer_screenshot",
  "summary_text",
];
const assistantParts = ["output_text", "refusal"];

export function typeOfItem(item: JsonObject): string {
  const type = item["type"];
  if (typeof type === "string") return type;
  return item["role"] === undefined ? "" : "message"; // the short form of a message has no type (EasyInputMessage)
}

export function checkItemShape(
  item: JsonObject,
  index: number,
  options: { readonly switches: Switches; readonly isOurs: (id: string) => boolean },
): ApiRefusal | undefined {
  const at = `input[${index}]`;
  if (item["type"] !== undefined && typeof item["type"] !== "string") {
    return invalidType(`${at}.type`, "a string", item["type"]);
  }
  const type = typeOfItem(item);
  if (type === "") return missingParameter("X-missing", `${at}.type`);
  const fields = Object.hasOwn(itemFields, type) ? itemFields[type] : undefined;
  // The server accepts back what it issued, even an unknown type or an id with an unusual prefix.
  const ours = typeof item["id"] === "string" && options.isOurs(item["id"]);
  if (fields !== undefined) return shapeOf(type, fields, { ...options, ours })(item, at);
  if (ours) return undefined;
  return invalidValue("X-value", `${at}.type`, type, Object.keys(itemFields));
}

/** Required fields first, then unknown fields, then each field on its own. */
function shapeOf(
  type: string,
  fields: ItemFields,
  { switches, ours }: { readonly switches: Switches; readonly ours: boolean },
): Row<ApiRefusal> {
  const known = ["type", ...fields.required, ...fields.optional];
  const injected = type === "function_call_output" && switches.outputWithoutCallId === "accept";
  const isRequired = (name: string): boolean => !(injected && name === "call_id");
  const noStatus = type === "reasoning" && switches.reasoningStatus === "refuse";
  return rows(
    ...fields.required.filter(isRequired).map((name) => field(name, required(missingRule(type, name)))),
    field(
      "status",
      noStatus
        ? ensure(
            () => false,
            (path) => unknownParameter("S03", path),
          )
        : rows(),
    ),
    switches.unknownFields === "refuse" ? only(known, "T14") : rows(),
    field("id", orNull(text, noLongerThan(64, "I05"), idCharacters, ours ? rows() : idPrefix(type))),
    field("call_id", orNull(text, notEmpty("T06"), noLongerThan(64, "T05"))),
    ownShapes[type]?.(switches) ?? rows(),
  );
}

function missingRule(type: string, name: string): string {
  if (type === "reasoning") return "S01";
  return name === "output" || name === "result" ? "T09" : name === "call_id" ? "T06" : "X-missing";
}

const text = is("string");

const idCharacters = ensure((id: string) => /^[\w-]+$/.test(id), badIdCharacters);

function idPrefix(type: string): Row<ApiRefusal> {
  const prefix = type === "item_reference" ? "" : (idPrefixes[type] ?? "");
  return ensure(
    (id: string) => id.startsWith(prefix),
    (path, id) => badIdPrefix(path, id, prefix),
  );
}

/** S05: input_text in an assistant message. S14: calls and results as content parts. */
function parts(
  allowed: readonly string[],
  { role, image }: { readonly role?: unknown; readonly image?: Row<ApiRefusal> } = {},
): Row<ApiRefusal> {
  const ruleOf = (type: string): string =>
    role === "assistant" && type.startsWith("input_") ? "S05" : "S14";
  return rows(
    is(["string", "array"], "one of an array of objects or string"),
    each(
      is("object"),
      field("type", mustBe("string")),
      by((part) => {
        const type = stringOf(part["type"]) ?? "";
        // The API names the part here, not its type.
        if (!allowed.includes(type)) return (_, path) => invalidValue(ruleOf(type), path, type, allowed);
        if (type === "refusal") return field("refusal", required(), text);
        if (type === "input_image") return image;
        return type.endsWith("_text") ? field("text", required(), text) : undefined;
      }),
    ),
  );
}

const patchStates = ["in_progress", "completed"];
const phases = ["commentary", "final_answer"];
const toolName = field(
  "name",
  text,
  notEmpty("T15"),
  noLongerThan(128, "T15"),
  ensure((name: string) => /^[\w-]+$/.test(name), badCallName),
);
const output = (): Row<ApiRefusal> =>
  rows(toolName, field("output", parts(["input_text", "input_image", "input_file"], { image: outputImage })));

const ownShapes: Readonly<Record<string, (switches: Switches) => Row<ApiRefusal>>> = {
  message: () =>
    rows(
      field("role", text, oneOf(roles)),
      field("phase", orNull(readAs(textOrJson, oneOf(phases)))),
      by(({ role }) => field("content", parts(role === "assistant" ? assistantParts : userParts, { role }))),
    ),
  reasoning: (switches) =>
    rows(
      // S02: only llama.cpp's message for null is known; OpenAI's is by analogy with its other type errors.
      field(
        "summary",
        is("array", "an array of objects", "S02"),
        each(is("object"), field("type", mustBeOneOf(["summary_text"])), field("text", mustBe("string"))),
      ),
      field(
        "content",
        orNull(
          is("array", "an array of objects"),
          switches.reasoningContent === "empty" ? noLongerThan(0, "S04") : rows(),
        ),
      ),
      field("encrypted_content", switches.nullCiphertext === "absent" ? orNull(text) : text),
    ),
  function_call: () => rows(toolName, field("arguments", text)),
  custom_tool_call: () => rows(toolName, field("input", text)),
  function_call_output: output,
  custom_tool_call_output: output,
  compaction: () => field("encrypted_content", text),
  shell_call_output: () => field("output", is("array", "an array of objects")),
  apply_patch_call: () => rows(field("operation", is("object")), field("status", oneOf(patchStates))),
  apply_patch_call_output: () =>
    rows(field("status", oneOf(["completed", "failed"])), field("output", orNull(text))),
  mcp_approval_response: () => rows(field("approval_request_id", text), field("approve", is("boolean"))),
  program: () => rows(field("code", text), field("fingerprint", text)),
  program_output: () => rows(field("result", text), field("status", oneOf(["completed", "incomplete"]))),
  additional_tools: () => rows(field("role", oneOf(["developer"])), field("tools", is("array"))),
};

function textOrJson(value: unknown): unknown {
  return value === undefined || typeof value === "string" ? value : JSON.stringify(value);
}
