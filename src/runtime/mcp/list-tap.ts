/**
 * Takes the tools out of a server's answers before the client package reads them. The package refuses a whole list for
 * one odd tool, and refuses a result that does not fit a tool's output schema, although the tool has run. So it only gets
 * to see a plain form of each tool; the tools as they were are kept here.
 */

import { arrayOf, isObject, type JsonObject } from "../../base/support/index.ts";

interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly result?: unknown;
}

export class ListTap {
  readonly #asked = new Set<unknown>();
  readonly #listed = new Map<string, JsonObject>();
  /** What cannot be given to the package: tools without a name. */
  #nameless: unknown[] = [];

  /** Call before each message to the server. */
  outgoing(message: object): void {
    const { id, method, params } = message as Message & { readonly params?: unknown };
    if (method !== "tools/list" || id === undefined) return;
    if (!isObject(params) || params["cursor"] === undefined) this.#begin();
    this.#asked.add(id);
  }

  /** Returns the message for the package. */
  incoming<Incoming extends object>(message: Incoming): Incoming {
    const { id, result } = message as Message;
    if (id === undefined || !this.#asked.delete(id) || !isObject(result)) return message;
    const tools = arrayOf(result["tools"]).flatMap((tool) => this.#keep(tool));
    return { ...message, result: { ...result, tools } };
  }

  /** The tools of the last list. */
  get listed(): readonly unknown[] {
    return [...this.#listed.values(), ...this.#nameless];
  }

  #begin(): void {
    this.#listed.clear();
    this.#nameless = [];
  }

  #keep(tool: unknown): readonly JsonObject[] {
    const name = isObject(tool) ? tool["name"] : undefined;
    if (!isObject(tool) || typeof name !== "string" || this.#listed.has(name)) {
      if (this.#nameless.length < 10) this.#nameless.push(tool);
      return [];
    }
    this.#listed.set(name, tool);
    return [{ name, inputSchema: { type: "object" } }];
  }
}
