/**
 * A request that grows at its end. What was rendered is kept as bytes and as a running hash, so the next step costs what
 * is new; the same prefix gives the same bytes (law 4). The array of items comes last but for a short tail, because it is
 * what grows; what depends on the whole conversation stands in the tail.
 */

import { createHash, type Hash } from "node:crypto";

import type { Member } from "../../base/support/index.ts";
import { LeftOutRanges, type Plan, type PlanEntry, sendsReasoning, withoutReasoning } from "../fold/index.ts";
import type { PieceContext, RequestCheck } from "../rules/index.ts";
import { ByteBlocks, type Span } from "./byte-blocks.ts";
import type { ItemSource, Remark, RenderContext, RenderedRequest, Renderer } from "./provider.ts";

/** One element of the array: an input item, or a message with everything in it. */
export interface RenderedElement {
  readonly text: string;
  /** The members of the text, where it was made of them or cut into them: so that nobody cuts it up again. */
  readonly members?: readonly Member[] | undefined;
  /** What stands in it and where it came from; paths begin at the element (`""`, `.content.0`). Only a refusal asks. */
  readonly sources: () => readonly ItemSource[];
  /** What the rules are told of it. */
  readonly piece?: PieceContext | undefined;
}

export interface Tail {
  readonly text: string;
  readonly remarks: readonly Remark[];
}

/** What a dialect adds to the mechanism. */
export interface RequestForm {
  /** Everything before the first element, the opening of the array included. */
  head(plan: Plan, context: RenderContext): string;
  /** What a provider may count as the prefix besides the elements: instructions and tools. */
  prefixHead(plan: Plan): string;
  /** What only the dialect can see about an entry (ids it would refuse); `before`: the entries as they were rendered. */
  guard(entry: PlanEntry, plan: Plan, before: readonly PlanEntry[]): PlanEntry;
  /** The path of element n. */
  pathOf(index: number): string;
  /** Elements that stand before the conversation (a system message). */
  opening(plan: Plan): readonly RenderedElement[];
  /** `before` is the element just before, if any: an entry of which nothing is sent leaves none. */
  render(
    entry: PlanEntry,
    plan: Plan,
    context: RenderContext,
    before: RenderedElement | undefined,
  ): readonly RenderedElement[];
  /** Closes the array and the body; `entries` as they were rendered. */
  tail(entries: readonly PlanEntry[], plan: Plan): Tail;
  /** The numbered rules, told of everything but the elements: head and tail joined are the body with an empty array. */
  startCheck(plan: Plan, parameters: string): RequestCheck;
}

export class GrowingRenderer implements Renderer {
  readonly #form: RequestForm;
  #state: RenderState | undefined;

  constructor(form: RequestForm) {
    this.#form = form;
  }

  render(plan: Plan, context: RenderContext): RenderedRequest {
    const head = Buffer.from(this.#form.head(plan, context));
    if (this.#state?.continues(plan, head) !== true) this.#state = new RenderState(this.#form, plan, head);
    return this.#state.render(plan, context);
  }
}

/** An element as it stands in the request, with all that may still be asked of it. */
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
  /** How many of their bytes the hashes have seen. */
  #hashed = 0;
  readonly #pushed: Pushed[] = [];
  /** Made with a tail, because what that says (thinking is off) decides over all elements. */
  #check: { readonly tail: string; readonly rules: RequestCheck };
  #last: RenderedElement | undefined;
  /** The plan's entries so far, and what became of them. */
  readonly #planned: PlanEntry[] = [];
  readonly #rendered: PlanEntry[] = [];
  readonly #leftOut = new LeftOutRanges();
  /** On a prefix-bound target: this and all later reasoning is left out (failures.md C04, H06). */
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

  render(plan: Plan, context: RenderContext): RenderedRequest {
    for (let index = this.#planned.length; index < plan.entries.length; index += 1) {
      const planned = plan.entries[index] as PlanEntry;
      const guarded = this.#form.guard(planned, plan, this.#rendered);
      const bound = this.#guardPrefix(guarded, plan);
      // What the prefix cost may be half of something.
      const entry = bound === guarded ? guarded : this.#form.guard(bound, plan, this.#rendered);
      for (const element of this.#form.render(entry, plan, context, this.#last)) {
        this.#push(element);
      }
      this.#planned.push(planned);
      this.#rendered.push(entry);
      this.#leftOut.add(entry);
    }
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
      // Only a refusal asks for them.
      get sources() {
        return sources();
      },
      violations: this.#checked(plan, text).violations(),
      remarks,
    };
  }

  /** Looked at by the rules at once: kept until the end, ten thousand elements would cost more to keep than to check. */
  #push(element: RenderedElement): void {
    const { text, sources, piece, members } = element;
    const span = this.#elements.append(text, this.#elements.length === 0 ? "" : ",");
    this.#pushed.push({ span, sources, piece });
    this.#check.rules.push(text, piece, members);
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

  /** Both hashes over all elements so far, in one go: a call per element costs more than its bytes. */
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

  /** Each element is looked at once, unless the tail turns out to be another than when they were. */
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
    return withoutReasoning(entry, "prefix_changed", "what stands before it is not what it was made after");
  }
}
