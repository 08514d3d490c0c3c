import { membersOf, textOf } from "../outline.ts";
import { HEAD } from "../rule.ts";
import type { ResponsesRule } from "./item-view.ts";

export const noServerState: ResponsesRule = {
  id: "R14",
  title: "If nothing is stored, nothing refers to items the server would have to remember",
  evidence: "I02, I10",
  todo: "Send the item itself.",
  about: (type) => type === "item_reference",
  start({ head, kept }) {
    if (kept?.items === true) return {};
    // Looked for first: cutting the head of every session costs more than all other rules together.
    const named = head?.includes('"previous_response_id"') === true;
    const previous = named ? textOf(membersOf(head).get("previous_response_id")) : undefined;
    return {
      item: ({ id = "" }) =>
        `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
      end: () =>
        previous === undefined
          ? []
          : [{ index: HEAD, message: `Previous response with id '${previous}' not found.` }],
    };
  },
};
