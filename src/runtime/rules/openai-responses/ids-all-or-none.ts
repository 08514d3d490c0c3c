import type { ItemView, ResponsesRule } from "./item-view.ts";

export const idsAllOrNone: ResponsesRule = {
  id: "R02",
  title: "The item ids of one response are sent together or not at all",
  evidence: "P02, P03, P05",
  todo: "Send every item of the response with its id, or send no ids and no reasoning.",
  start({ kept }) {
    if (kept?.items === true) return {};
    const groups = new Map<string, { readonly withId: boolean; readonly first: ItemView }>();
    return {
      item(item) {
        if (item.group === undefined) return undefined;
        const withId = item.id !== undefined;
        const known = groups.get(item.group);
        if (known === undefined) groups.set(item.group, { withId, first: item });
        if (known === undefined || known.withId === withId) return undefined;
        const named = withId ? item : known.first;
        return `Item '${named.id ?? ""}' of type '${named.type}' was provided without its required 'reasoning' item.`;
      },
    };
  },
};
