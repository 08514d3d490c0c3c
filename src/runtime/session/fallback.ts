/**
 * Which model a turn uses: its own, or the next of the agent's `fallback` list after a model failed. A fallback lasts
 * until the turn ends, or until a person chooses another model for the session.
 */

import { type Origin, sameOrigin } from "../../base/events/index.ts";
import type { Model } from "../providers/index.ts";

export class Fallback {
  readonly #list: readonly Model[];
  #next = 0;
  /** The model in use, and the model of the session or turn that it stands in for. */
  #now: { readonly model: Model; readonly insteadOf: Model } | undefined;

  constructor(list: readonly Model[] | undefined) {
    this.#list = list ?? [];
  }

  /** Starts on the model that an interrupted turn had changed to. */
  continueOn(target: Origin | undefined, own: Model): void {
    const index = this.#list.findIndex(
      (model) => target !== undefined && sameOrigin(model.settings.target, target),
    );
    const model = this.#list[index];
    if (model === undefined) return;
    this.#now = { model, insteadOf: own };
    this.#next = index + 1;
  }

  modelFor(own: Model): Model {
    return this.#now?.insteadOf === own ? this.#now.model : own;
  }

  /** Changes to the next model that has not just failed. Undefined if none is left. */
  change(own: Model): Model | undefined {
    if (this.#now !== undefined && this.#now.insteadOf !== own) this.#next = 0;
    const failed = [own, this.modelFor(own)].map(({ settings }) => settings.target);
    while (this.#next < this.#list.length) {
      const model = this.#list[this.#next] as Model;
      this.#next += 1;
      if (failed.some((target) => sameOrigin(target, model.settings.target))) continue;
      this.#now = { model, insteadOf: own };
      return model;
    }
    return undefined;
  }
}
