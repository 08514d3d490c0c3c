/** The server's memory for `store: true`: responses, their input items, and the sealed content of stored reasoning. */

import { isObject, type JsonObject, stringOf } from "../../base/support/index.ts";
import type { ApiRefusal } from "../api-refusal.ts";
import type { Seal, Sealed } from "../seal.ts";
import { type ContextItem, toContextItem } from "./judge/context.ts";
import { itemNotFound, itemNotPersisted, itemNotRetained } from "./judge/refusals.ts";
import type { InputItem } from "./judge/request-shape.ts";
import type { IssuedItem } from "./output/issue.ts";

export interface StoredResponse {
  object: JsonObject;
  readonly account: string;
  readonly previous: string | undefined;
  readonly inputItems: readonly JsonObject[];
  readonly output: readonly { readonly item: JsonObject; readonly sealed: Sealed | undefined }[];
  /** Set for a background response. Called when it ends; returns its final state. */
  readonly finish?: () => JsonObject;
}

const maxStored = 5000;

export class ResponseStore {
  readonly #responses = new Map<string, StoredResponse>();
  readonly #items = new Map<
    string,
    { readonly item: JsonObject; readonly sealed: Sealed | undefined; readonly account: string }
  >();

  get(id: string, account: string): StoredResponse | undefined {
    const found = this.#responses.get(id);
    return found?.account === account ? found : undefined;
  }

  put(id: string, response: StoredResponse): void {
    this.#responses.set(id, response);
    for (const { item, sealed } of response.output) {
      const itemId = stringOf(item["id"]);
      if (itemId !== undefined) this.#items.set(itemId, { item, sealed, account: response.account });
    }
    for (const item of response.inputItems) {
      const itemId = stringOf(item["id"]);
      if (itemId !== undefined && !this.#items.has(itemId)) {
        this.#items.set(itemId, { item, sealed: undefined, account: response.account });
      }
    }
    const [oldest] = this.#responses.keys();
    if (this.#responses.size > maxStored && oldest !== undefined) this.#responses.delete(oldest);
  }

  delete(id: string): void {
    const response = this.#responses.get(id);
    this.#responses.delete(id);
    for (const { item } of response?.output ?? []) this.#items.delete(stringOf(item["id"]) ?? "");
  }

  /** Everything before the new input: the chain of previous responses, oldest first. */
  chain(id: string, account: string, seal: Seal): readonly ContextItem[] | undefined {
    const found = this.get(id, account);
    if (found === undefined) return undefined;
    const before = found.previous === undefined ? [] : (this.chain(found.previous, account, seal) ?? []);
    return [
      ...before,
      ...found.inputItems.map((item) => this.#contextItem(item, seal)),
      ...found.output.map(({ item, sealed }) => toContextItem(item, { seal, stored: sealed })),
    ];
  }

  /** Returns the input items with references replaced by the items they refer to. */
  resolve(
    input: readonly InputItem[],
    options: {
      readonly account: string;
      readonly seal: Seal;
      readonly store: boolean;
      readonly retained: boolean;
    },
  ): readonly ContextItem[] | ApiRefusal {
    const items: ContextItem[] = [];
    for (const [index, { item }] of input.entries()) {
      const id = stringOf(item["id"]);
      const stored = id === undefined ? undefined : this.#stored(id, options.account);
      if (item["type"] !== "item_reference") {
        items.push(toContextItem(item, { seal: options.seal, index, stored: stored?.sealed }));
        continue;
      }
      if (id === undefined) continue; // the shape check has refused it
      if (stored === undefined) {
        if (!options.retained) return itemNotRetained(id);
        return options.store ? itemNotFound("I02", id) : itemNotPersisted("I02", id);
      }
      items.push(toContextItem(stored.item, { seal: options.seal, stored: stored.sealed }));
    }
    return items;
  }

  #stored(
    id: string,
    account: string,
  ): { readonly item: JsonObject; readonly sealed: Sealed | undefined } | undefined {
    const found = this.#items.get(id);
    return found?.account === account ? found : undefined;
  }

  #contextItem(item: JsonObject, seal: Seal): ContextItem {
    const id = stringOf(item["id"]);
    return toContextItem(item, { seal, stored: id === undefined ? undefined : this.#items.get(id)?.sealed });
  }
}

/** Gives input items ids when they are stored, as GET …/input_items shows them. */
export function withIds(context: readonly ContextItem[], seal: Seal, at: number): readonly JsonObject[] {
  const uid = seal.newUid();
  return context.map(({ item, type, id }, index) => {
    const content = item["content"];
    const parts = typeof content === "string" ? [{ type: "input_text", text: content }] : content;
    return {
      ...(id === undefined ? { id: seal.itemId({ uid, at, index: index % 256 }, type) } : {}),
      type,
      ...item,
      ...(type === "message" && isObject(item) ? { content: parts } : {}),
    };
  });
}

export function storedOutput(items: readonly IssuedItem[]): StoredResponse["output"] {
  return items.map((item) => ({ item: item.view("completed"), sealed: item.sealed }));
}
