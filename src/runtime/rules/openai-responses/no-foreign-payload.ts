import type { ResponsesRule } from "./item-view.ts";

export const noForeignPayload: ResponsesRule = {
  id: "R16",
  title: "No opaque payload from another origin",
  evidence: "E01–E05, E08",
  todo: "Leave the payload out: only its origin can read it.",
  item: (item) =>
    item.foreign && item.payload === "present"
      ? "The encrypted content could not be verified. Reason: Encrypted content could not be decrypted or parsed."
      : undefined,
};
