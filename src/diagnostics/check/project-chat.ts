/**
 * Blocks as chat messages. The parts of an assistant message are its calls. Its thoughts and text form one more part after
 * them, which no rule looks at.
 */

import type { Block, ProjectedPiece } from "./block-history.ts";

export function projectChat(blocks: readonly Block[]): readonly ProjectedPiece[] {
  const pieces: ProjectedPiece[] = [];
  for (let at = 0; at < blocks.length; at += 1) {
    const block = blocks[at] as Block;
    if (block.kind === "user") {
      pieces.push({ text: JSON.stringify({ role: "user", content: block.text ?? "" }), parts: [[at]] });
      continue;
    }
    if (block.kind === "result") {
      const answer = { role: "tool", tool_call_id: block.callId ?? "", content: block.text ?? "" };
      pieces.push({ text: JSON.stringify(answer), parts: [[at]] });
      continue;
    }
    const own = [at];
    while (isSameAnswer(block, blocks[at + 1])) {
      at += 1;
      own.push(at);
    }
    pieces.push(assistant(own, blocks));
  }
  return pieces;
}

function isSameAnswer(block: Block, next: Block | undefined): boolean {
  return next?.message === block.message && next.kind !== "user" && next.kind !== "result";
}

function assistant(own: readonly number[], blocks: readonly Block[]): ProjectedPiece {
  const of = (kind: Block["kind"]): readonly number[] => own.filter((index) => blocks[index]?.kind === kind);
  const words = of("text").map((index) => blocks[index]?.text ?? "");
  const thoughts = of("reasoning").map((index) => blocks[index] as Block);
  const calls = of("call").map((index) => callText(blocks[index] as Block));
  const [first] = thoughts;
  const field = first?.field ?? "reasoning_content";
  const said = words.length === 0 ? "null" : JSON.stringify(words.join(""));
  const members = [
    '"role":"assistant"',
    `"content":${said}`,
    ...(first === undefined
      ? []
      : [
          `${JSON.stringify(field)}:${first.wire ?? JSON.stringify(thoughts.map(({ text }) => text ?? "").join(""))}`,
        ]),
    ...(calls.length === 0 ? [] : [`"tool_calls":[${calls.join(",")}]`]),
  ];
  return {
    text: `{${members.join(",")}}`,
    parts: [...of("call").map((index) => [index]), [...of("text"), ...of("reasoning")]],
  };
}

function callText({ callId, name, arguments: text }: Block): string {
  return JSON.stringify({
    id: callId ?? "",
    type: "function",
    function: { name: name ?? "", arguments: text ?? "{}" },
  });
}
