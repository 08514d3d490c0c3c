/**
 * The server's reasoning: whether there is any, in which form, and whether it can be sent back.
 */

import { arrayOf, numberOf, objectOf } from "../../../base/support/index.ts";
import type { Context } from "../context.ts";
import { fieldOf, payloadOf, textField, typeOf } from "../item-text.ts";
import { differs, holds, probesOf, Skip, verdict } from "../probe.ts";
import type { SeenItem } from "../stream-view.ts";
import { changingIds } from "./stream-checks.ts";

async function reasoningItems(context: Context): Promise<readonly SeenItem[]> {
  const views = await context.streams();
  return views.flatMap(({ items }) =>
    items.filter((item) => typeOf(item.done ?? item.final ?? item.added ?? "") === "reasoning"),
  );
}

async function someReasoning(context: Context): Promise<readonly SeenItem[]> {
  const items = (await reasoningItems(context)).filter(({ done, final }) => (done ?? final) !== undefined);
  if (items.length === 0) throw new Skip("there is no finished reasoning item: see reasoning.item");
  return items;
}

export const REASONING_PROBES = probesOf("reasoning", {
  "reasoning.item": {
    strict: false,
    title: "the model's reasoning arrives as separate items",
    why: "P11",
    async run(context) {
      const items = await reasoningItems(context);
      const views = await context.streams();
      const tokens = views.map(({ response }) => {
        const details = objectOf(objectOf(response?.["usage"])["output_tokens_details"]);
        return numberOf(details["reasoning_tokens"]) ?? 0;
      });
      const spent = `${tokens.join(" + ")} reasoning tokens`;
      if (items.length === 0)
        return differs("an item of type reasoning", `none; ${spent}`, { present: false });
      return holds(`${items.length} items, ${spent}`, { present: true });
    },
  },
  "reasoning.shape": {
    title: "a reasoning item has an rs_ id and a summary array",
    why: "S01, S02, I13",
    async run(context) {
      const items = await someReasoning(context);
      const problems: string[] = [];
      const steady = (await context.streams()).every((view) => changingIds(view).length === 0);
      let content = 0;
      let status = 0;
      for (const { done, final } of items) {
        const item = done ?? final ?? "{}";
        const id = textField(item, "id") ?? "";
        // stream.ids reports ids that change from event to event.
        if (!id.startsWith("rs") && steady) problems.push(`its id is "${id}"`);
        if (!Array.isArray(fieldOf(item, "summary"))) problems.push("summary is not an array");
        content += arrayOf(fieldOf(item, "content")).length;
        status += fieldOf(item, "status") === undefined ? 0 : 1;
      }
      const seen = [
        "id, summary",
        ...(content > 0 ? ["with readable content"] : []),
        ...(status > 0 ? ["with status, which the input does not accept (S03)"] : []),
      ].join(", ");
      return verdict("id rs_…, summary: []", problems, seen);
    },
  },
  "reasoning.payload": {
    title: "with include and store: false the reasoning carries encrypted_content",
    why: "I01, E11",
    async run(context) {
      const items = await someReasoning(context);
      const sizes = items.map(({ done, final }) => (payloadOf(done) ?? payloadOf(final) ?? "").length);
      return sizes.includes(0)
        ? differs(
            "encrypted_content on every reasoning item",
            `${sizes.filter((size) => size === 0).length} of ${sizes.length} have none`,
            { present: false },
          )
        : holds(`${sizes.join(", ")} characters`, { present: true });
    },
  },
  "reasoning.payload-in-done": {
    title: "encrypted_content is there when the item is done, not only at the end",
    why: "E07, E08",
    async run(context) {
      const items = await someReasoning(context);
      if (!items.some(({ done, final }) => (payloadOf(done) ?? payloadOf(final)) !== undefined)) {
        throw new Skip("there is no encrypted_content: see reasoning.payload");
      }
      const closed = items.filter(({ done }) => done !== undefined);
      const late = closed.filter(({ done }) => payloadOf(done) === undefined).length;
      return late === 0
        ? holds(`${closed.length} items`)
        : differs(
            "encrypted_content in response.output_item.done",
            `${late} of ${closed.length} have it only in the terminal event`,
          );
    },
  },
  "reasoning.fresh-payload": {
    strict: false,
    title: "the terminal event has another ciphertext of the same item",
    why: "E08",
    async run(context) {
      const items = await someReasoning(context);
      const both = items.filter(
        ({ done, final }) => payloadOf(done) !== undefined && payloadOf(final) !== undefined,
      );
      if (both.length === 0) throw new Skip("no item has encrypted_content in both places");
      const same = both.filter(({ done, final }) => payloadOf(done) === payloadOf(final)).length;
      return same === 0
        ? holds("they differ: ciphertext must not be compared")
        : differs("two different ciphertexts", `${same} of ${both.length} are the same`);
    },
  },
});
