/**
 * Groups blocks into turns as people see them: a message of a person and all that follows it. A turn whose blocks did not
 * change stays the same object, so that only what changed is drawn again. Pure.
 */

import type {
  Block,
  NoticeBlock,
  ReasoningBlock,
  TextBlock,
  ToolBlock,
  TurnEndBlock,
  UserBlock,
} from "../fragments/index.ts";

/** Rows of the line stand together; prose and notes interrupt it. */
export type Segment =
  | { readonly kind: "line"; readonly rows: readonly (ReasoningBlock | ToolBlock)[] }
  | { readonly kind: "prose"; readonly block: TextBlock }
  | { readonly kind: "message"; readonly block: UserBlock }
  | { readonly kind: "note"; readonly block: NoticeBlock };

export interface Turn {
  readonly key: string;
  readonly message: UserBlock | undefined;
  readonly blocks: readonly Block[];
  readonly segments: readonly Segment[];
  readonly ends: readonly TurnEndBlock[];
}

export class TurnList {
  #blocks: readonly Block[] = [];
  #turns: readonly Turn[] = [];

  of(blocks: readonly Block[]): readonly Turn[] {
    if (blocks === this.#blocks) return this.#turns;
    this.#blocks = blocks;
    const before = new Map(this.#turns.map((turn) => [turn.key, turn]));
    this.#turns = grouped(blocks).map((group) => {
      const key = group[0]?.id ?? "";
      const known = before.get(key);
      return known !== undefined && sameItems(known.blocks, group) ? known : turnOf(key, group);
    });
    return this.#turns;
  }
}

function grouped(blocks: readonly Block[]): readonly (readonly Block[])[] {
  const groups: Block[][] = [];
  for (const block of blocks) {
    const opens = block.kind === "user" && block.by === "person" && block.steer !== true;
    const last = groups.at(-1);
    if (opens || last === undefined) groups.push([block]);
    else last.push(block);
  }
  return groups;
}

function turnOf(key: string, blocks: readonly Block[]): Turn {
  const [first, ...others] = blocks;
  const message = first?.kind === "user" && first.by === "person" ? first : undefined;
  const segments: Segment[] = [];
  const ends: TurnEndBlock[] = [];
  for (const block of message === undefined ? blocks : others) {
    if (block.kind === "turn_end") ends.push(block);
    else if (block.kind === "text") segments.push({ kind: "prose", block });
    else if (block.kind === "notice") segments.push({ kind: "note", block });
    else if (block.kind === "user") segments.push({ kind: "message", block });
    else {
      const last = segments.at(-1);
      if (last?.kind === "line")
        segments[segments.length - 1] = { kind: "line", rows: [...last.rows, block] };
      else segments.push({ kind: "line", rows: [block] });
    }
  }
  return { key, message, blocks, segments, ends };
}

function sameItems(a: readonly Block[], b: readonly Block[]): boolean {
  return a.length === b.length && a.every((block, at) => block === b[at]);
}
