/**
 * `POST /v1/responses/compact`: replaces everything except the user's messages with one encrypted item. The item is
 * bound like reasoning (H03) and carries the model's notes, so that a compacted conversation still knows its number.
 */

import type { JsonObject } from "../../base/support/index.ts";
import { refused, type RouteRequest, type WireAnswer } from "../dialect.ts";
import type { Engine } from "../engine.ts";
import { coveredBy, readNote, writeNote } from "../model/notes.ts";
import { type Judged, judgeRequest, readRequest } from "./judge-request.ts";
import { usageOf } from "./output/response-object.ts";

export function compact(engine: Engine, request: RouteRequest, account: string): WireAnswer {
  const parsed = readRequest(engine, request.text);
  if ("rule" in parsed) return refused(parsed, undefined);
  const judged = judgeRequest(engine, parsed, {
    account,
    conversationHeader: request.headers["x-emulator-conversation"],
  });
  if ("rule" in judged) return refused(judged, undefined);
  const [first] = judged.refusals;
  if (engine.strict && first !== undefined) return refused(first, undefined);
  const at = engine.seconds();
  const uid = engine.seal.newUid();
  const messages = judged.context
    .filter((one) => one.type === "message" && one.item["role"] === "user")
    .map((one, index) => ({
      id: engine.seal.itemId({ uid, at, index: Math.min(index, 200) }, "message"),
      type: "message",
      status: "completed",
      role: "user",
      content:
        typeof one.item["content"] === "string"
          ? [{ type: "input_text", text: one.item["content"] }]
          : one.item["content"],
    }));
  const texts = parsed.input.map(({ text }) => text);
  const prompt = engine.cache.take(`${account}\n${parsed.model}`, parsed.head, texts);
  return {
    status: 200,
    json: {
      id: engine.seal.responseId(uid, at),
      object: "response.compaction",
      created_at: at,
      output: [...messages, compactionItem(engine, judged, uid, at)],
      usage: usageOf(prompt, []),
    },
    report: undefined,
  };
}

function compactionItem(engine: Engine, judged: Judged, uid: string, at: number): JsonObject {
  const id = engine.seal.itemId({ uid, at, index: 255 }, "compaction");
  const sealed = [...judged.history.usable.values()];
  const notes = writeNote({
    about: "compacted conversation",
    number: sealed.map((one) => readNote(one.notes).number).findLast((one) => one !== undefined),
    covers: sealed.flatMap((one) => [one.id, ...coveredBy(one.notes)]),
  });
  return {
    id,
    type: "compaction",
    encrypted_content: engine.seal.seal(
      {
        stage: "completed",
        id,
        uid,
        index: 255,
        model: judged.request.model,
        account: judged.account,
        prefix: "",
        follower: null,
        notes,
      },
      at,
    ),
  };
}
