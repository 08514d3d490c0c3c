/**
 * A request that grows at its end. Rendered parts are kept as bytes with a running hash, so each step costs only what
 * is new, and the same prefix always gives the same bytes (law 4). The array of items comes last, followed only by a
 * short tail that holds everything that depends on the whole conversation.
 */

import { createHash, type Hash } from "node:crypto";

import { LeftOutRanges, type Plan, type PlanEntry, sendsReasoning, withoutReasoning } from "../fold/index.ts";
import type { ItemOutline, PieceContext, RequestCheck } from "../rules/index.ts";
import { ByteBlocks, type Span } from "./byte-blocks.ts";
import type { ItemSource, Remark, RenderContext, RenderedRequest, Renderer } from "./provider.ts";

/** One element of the array: an input item, or a whole message. */
export interface RenderedElement {
  readonly text: string;
  /** The outline of an input item, if the dialect has already looked at the text, so that no later step has to. */
  readonly outline?: ItemOutline | undefined;
  /**
   * The items in this element and their origins. Paths are relative to the element (`""`, `.content.0`). Read only
   * after a refusal.
   */
  readonly sources: () => readonly ItemSource[];
  /** Context for the rules. */
  readonly piece?: PieceContext | undefined;
}

export interface Tail {
  readonly text: string;
  readonly remarks: readonly Remark[];
}

/** The dialect-specific part of rendering. */
export interface RequestForm {
  /** Everything before the first element, including the opening of the array. */
  head(plan: Plan, context: RenderContext): string;
  /** The parts of the prefix besides the elements, as a provider may count it: instructions and tools. */
  prefixHead(plan: Plan): string;
  /**
   * Adjusts an entry for reasons only the dialect knows, such as ids it would refuse. `before`: the entries rendered so
   * far.
   */
  guard(entry: PlanEntry, plan: Plan, before: readonly PlanEntry[]): PlanEntry;
  /** The path of element `index`. */
  pathOf(index: number): string;
  /** Elements that precede the conversation, such as a system message. */
  opening(plan: Plan): readonly RenderedElement[];
  /** Renders an entry. `before` is the previous element, if any. An entry that sends nothing renders no elements. */
  render(
    entry: PlanEntry,
    plan: Plan,
    context: RenderContext,
    before: RenderedElement | undefined,
  ): readonly RenderedElement[];
  /** Closes the array and the body. `entries`: the entries as rendered. */
  tail(entries: readonly PlanEntry[], plan: Plan): Tail;
  /**
   * Starts the numbered rules with everything but the elements: head and tail joined form the body with an empty array.
   */
  startCheck(plan: Plan, parameters: string): RequestCheck;
}

export class GrowingRenderer implements Renderer {
  readonly #form: RequestForm;
  #state: RenderState | undefined;

  constructor(form: RequestForm) {
    this.#form = form;
  }

  render(plan: Plan, context: RenderContext): RenderedRequest {
    return this.#stateFor(plan, context).render(plan, context);
  }

  renderAhead(plan: Plan, context: RenderContext): void {
    this.#stateFor(plan, context).add(plan, context);
  }

  #stateFor(plan: Plan, context: RenderContext): RenderState {
    const head = Buffer.from(this.#form.head(plan, context));
    if (this.#state?.continues(plan, head) !== true) this.#state = new RenderState(this.#form, plan, head);
    return this.#state;
  }
}

/** An element of the request and what may still be needed of it. */
interface Pushed {
  readonly span: Span;
  readonly sources: () => readonly ItemSource[];
  readonly piece: PieceContext | undefined;
}

class RenderState {
  readonly #form: RequestForm;
  readonly #revision: number;
  readonly #head: Buffer;
  readonly #bodyHash: Hash;
  readonly #prefixHash: Hash;
  readonly #elements = new ByteBlocks();
  /** How many element bytes have been hashed. */
  #hashed = 0;
  readonly #pushed: Pushed[] = [];
  /** Created with a tail, because its content (such as thinking being off) affects how all elements are judged. */
  #check: { readonly tail: string; readonly rules: RequestCheck };
  #last: RenderedElement | undefined;
  /** The plan's entries so far, as planned and as rendered. */
  readonly #planned: PlanEntry[] = [];
  readonly #rendered: PlanEntry[] = [];
  readonly #leftOut = new LeftOutRanges();
  /** On a prefix-bound target, this and all later reasoning is left out (failures.md C04, H06). */
  #prefixBroken = false;

  constructor(form: RequestForm, plan: Plan, head: Buffer) {
    this.#form = form;
    this.#revision = plan.revision;
    this.#head = head;
    this.#bodyHash = createHash("sha256").update(head);
    this.#prefixHash = createHash("sha256").update(form.prefixHead(plan));
    this.#check = this.#startCheck(plan, form.tail([], plan).text);
    for (const element of form.opening(plan)) this.#push(element);
  }

  continues(plan: Plan, head: Buffer): boolean {
    const last = this.#planned.length - 1;
    return (
      plan.revision === this.#revision &&
      head.equals(this.#head) &&
      plan.entries.length > last &&
      (last === -1 || plan.entries[last] === this.#planned[last])
    );
  }

  /** Renders the entries that are not in the request yet. */
  add(plan: Plan, context: RenderContext): void {
    for (let index = this.#planned.length; index < plan.entries.length; index += 1) {
      const planned = plan.entries[index] as PlanEntry;
      const guarded = this.#form.guard(planned, plan, this.#rendered);
      const bound = this.#guardPrefix(guarded, plan);
      // Removing reasoning may have left half of a pair.
      const entry = bound === guarded ? guarded : this.#form.guard(bound, plan, this.#rendered);
      for (const element of this.#form.render(entry, plan, context, this.#last)) {
        this.#push(element);
      }
      this.#planned.push(planned);
      this.#rendered.push(entry);
      this.#leftOut.add(entry);
    }
  }

  render(plan: Plan, context: RenderContext): RenderedRequest {
    this.add(plan, context);
    const { text, remarks } = this.#form.tail(this.#rendered, plan);
    const tail = Buffer.from(text);
    this.#hash();
    const count = this.#pushed.length;
    const sources = (): readonly ItemSource[] => this.#sourcesOf(count);
    return {
      body: [this.#head, ...this.#elements.since(0), tail],
      bodyHash: this.#bodyHash.copy().update(tail).digest("hex"),
      prefixHash: this.#prefixDigest(),
      entries: this.#rendered.slice(),
      leftOut: this.#leftOut.list(),
      // Computed lazily: needed only after a refusal.
      get sources() {
        return sources();
      },
      violations: this.#checked(plan, text).violations(),
      remarks,
    };
  }

  /**
   * The rules check each element at once: for ten thousand elements, keeping them all until the end would cost more.
   */
  #push(element: RenderedElement): void {
    const { text, sources, piece, outline } = element;
    const span = this.#elements.append(text, this.#elements.length === 0 ? "" : ",");
    this.#pushed.push({ span, sources, piece });
    this.#check.rules.push(text, piece, outline);
    this.#last = element;
  }

  #startCheck(plan: Plan, tail: string): { readonly tail: string; readonly rules: RequestCheck } {
    return { tail, rules: this.#form.startCheck(plan, `${this.#head.toString()}${tail}`) };
  }

  #sourcesOf(count: number): readonly ItemSource[] {
    return this.#pushed.slice(0, count).flatMap(({ sources }, index) => {
      const path = this.#form.pathOf(index);
      return sources().map((source) => ({ ...source, path: `${path}${source.path}` }));
    });
  }

  /** Updates both hashes with all new elements in one go: one call per element costs more than the hashing itself. */
  #hash(): void {
    for (const bytes of this.#elements.since(this.#hashed)) {
      this.#bodyHash.update(bytes);
      this.#prefixHash.update(bytes);
    }
    this.#hashed = this.#elements.length;
  }

  #prefixDigest(): string {
    this.#hash();
    return this.#prefixHash.copy().digest("hex");
  }

  /** Each element is checked once, unless the tail changed since. */
  #checked(plan: Plan, tail: string): RequestCheck {
    if (this.#check.tail === tail) return this.#check.rules;
    this.#check = this.#startCheck(plan, tail);
    for (const { span, piece } of this.#pushed) this.#check.rules.push(this.#elements.textAt(span), piece);
    return this.#check.rules;
  }

  #guardPrefix(entry: PlanEntry, plan: Plan): PlanEntry {
    if (!plan.settings.profile.prefixBound || entry.kind !== "group" || !sendsReasoning(entry)) return entry;
    this.#prefixBroken ||= this.#prefixDigest() !== entry.group.start.prefixHash;
    if (!this.#prefixBroken) return entry;
    const why =
      entry.group.start.prefixHash === ""
        ? "it was imported, and this model reads a thought only after the conversation it was created in"
        : "the conversation before it has changed since it was created";
    return withoutReasoning(entry, "prefix_changed", why);
  }
}
