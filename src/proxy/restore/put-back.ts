/** Puts thoughts back where they were issued. Everything else in the request keeps its bytes. */

import {
  arrayText,
  sliceArray,
  sliceMember,
  sliceObject,
  objectText,
  tryParseJson,
  withMember,
} from "../../base/support/index.ts";
import { inputFields } from "../../runtime/providers/index.ts";
import type { Spot, Stretch } from "../marks/index.ts";
import { type Body, elementText, toWire } from "./body.ts";
import type { Fate } from "./compare.ts";
import type { Match } from "./match.ts";
import type { Target } from "./target.ts";

/** The texts that elements and their parts get, collected for all answers of a request. */
export class PutBack {
  readonly #body: Body;
  readonly #target: Target;
  readonly #changed = new Map<number, string>();
  readonly #before = new Map<number, string[]>();
  /** Blocks of a message, by element: new ones before a block, and new texts of blocks. */
  readonly #blocks = new Map<number, { before: Map<number, string[]>; changed: Map<number, string> }>();

  constructor(body: Body, target: Target) {
    this.#body = body;
    this.#target = target;
  }

  /** False if a thought has no place: the client joined what it stood between, or nothing follows it. */
  add(match: Match, stretch: Stretch, fates: readonly Fate[], raw: readonly string[]): boolean {
    const wanted = fates.filter(({ is }) => is !== "as issued");
    // A thought that the client moved is its own deed.
    if (
      wanted.some(
        ({ copy, thought }) => copy !== undefined && !this.#isThere(copy.before, match, thought.before),
      )
    )
      return false;
    const spots = wanted.map((fate) => fate.copy?.piece.at ?? this.#spotFor(match, stretch, fate));
    if (spots.includes(undefined)) return false;
    for (const [index, fate] of wanted.entries()) {
      const text = raw[fate.number];
      const at = spots[index];
      if (text === undefined || at === undefined) return false;
      this.#add(fate, at, toWire(text));
    }
    return true;
  }

  edits(): {
    readonly changed: ReadonlyMap<number, string>;
    readonly before: ReadonlyMap<number, readonly string[]>;
  } {
    for (const [element, { before, changed }] of this.#blocks) {
      const text = this.#changed.get(element) ?? elementText(this.#body, element);
      const content = sliceMember(text, "content") ?? "";
      const blocks = content.startsWith('"') ? [`{"type":"text","text":${content}}`] : sliceArray(content);
      const all = blocks.flatMap((block, part) => [...(before.get(part) ?? []), changed.get(part) ?? block]);
      this.#changed.set(element, withMember(text, "content", arrayText(all)));
    }
    this.#blocks.clear();
    return { changed: this.#changed, before: this.#before };
  }

  #isThere(before: number, { positions, group }: Match, member: number): boolean {
    return group.dialect === "openai-chat" || before === positions[member];
  }

  /** The spot of the piece that followed the thought. */
  #spotFor({ positions, group }: Match, { atoms }: Stretch, { thought }: Fate): Spot | undefined {
    if (group.dialect === "openai-chat") return this.#messageOf(positions, atoms);
    const position = positions[thought.before] ?? -1;
    return atoms[position]?.piece.at;
  }

  /** The message that holds the calls, or else the last text. */
  #messageOf(positions: readonly number[], atoms: Stretch["atoms"]): Spot | undefined {
    const own = positions.map((position) => atoms[position]).filter((atom) => atom !== undefined);
    return (own.find(({ piece }) => piece.kind === "call") ?? own.at(-1))?.piece.at;
  }

  #add({ thought, is }: Fate, at: Spot, text: string): void {
    const { dialect } = this.#body;
    if (dialect === "openai-responses") {
      const item = asInputItem(thought.form, text, this.#target.profile.reasoningContent === "verbatim");
      if (is === "changed") this.#changed.set(at.element, item);
      else this.#collect(this.#before, at.element, item);
      return;
    }
    if (dialect === "anthropic-messages") {
      const blocks = this.#blocks.get(at.element) ?? { before: new Map(), changed: new Map() };
      this.#blocks.set(at.element, blocks);
      if (is === "changed") blocks.changed.set(at.part ?? 0, text);
      else this.#collect(blocks.before, at.part ?? 0, text);
      return;
    }
    const element = this.#changed.get(at.element) ?? elementText(this.#body, at.element);
    this.#changed.set(at.element, chatMessage(element, thought.form, text));
  }

  #collect(into: Map<number, string[]>, key: number, text: string): void {
    into.set(key, [...(into.get(key) ?? []), text]);
  }
}

/** An output item as the input takes it (failures.md S03, S04). */
export function asInputItem(form: string, item: string, readable: boolean): string {
  const members = sliceObject(item);
  const payload = members.find(({ key }) => key === "encrypted_content")?.value ?? "null";
  const fields = inputFields(form, readable || payload === "null" ? "verbatim" : "empty");
  if (fields === undefined) return item;
  return objectText(members.filter(({ key, value }) => fields.includes(key) && !isEmptyPayload(key, value)));
}

/** `encrypted_content: null` and empty contents are refused by some servers, and mean nothing. */
function isEmptyPayload(key: string, value: string): boolean {
  return (
    (key === "encrypted_content" && value === "null") ||
    (key === "content" && /^(?:null|\[\s*\])$/.test(value))
  );
}

function chatMessage(message: string, form: string, value: string): string {
  if (form !== "content_thinking") return withMember(message, form, value);
  const content = sliceMember(message, "content") ?? "null";
  const parts = content.startsWith("[")
    ? sliceArray(content).filter((part) => !isThinking(part))
    : textPart(content);
  return withMember(message, "content", arrayText([...sliceArray(value), ...parts]));
}

function textPart(content: string): readonly string[] {
  return content === "null" || content === '""' ? [] : [`{"type":"text","text":${content}}`];
}

function isThinking(part: string): boolean {
  const value = tryParseJson(part);
  return typeof value === "object" && value !== null && "type" in value && value.type === "thinking";
}
