/** `throughline tree`: shows the branches of a session and switches between them. */

import { Command } from "commander";

import { emulator } from "../../../runtime/models/index.ts";
import { createAgent, type TreeTurn, buildTree } from "../../../runtime/session/index.ts";
import type { Finish } from "../command-table.ts";
import { EXIT } from "../exit-codes.ts";
import { EVENT_NUMBER, wholeNumber } from "../flag-numbers.ts";
import { inertLine } from "../inert-text.ts";
import { openStore, type StoreFlags } from "../open-store.ts";
import { type LastFlag, openToRead, sessionNamed, takesSession, withLog } from "../session-argument.ts";
import { takesStore } from "../store-flag.ts";
import { printJson, printLines, type Terminal } from "../terminal.ts";

interface TreeFlags extends LastFlag {
  readonly to?: string;
  readonly json?: boolean;
}

export function treeCommand(terminal: Terminal, finish: Finish): Command {
  return takesStore(
    takesSession(new Command("tree").description("Show the branches of a session, or switch to another one")),
  )
    .option("--to <seq>", "switch to the end of the turn that contains this event")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      `
Examples:
  throughline tree --last                  show turns and branches, the active ones marked *
  throughline tree s_1m7g --to 41          continue after the turn that contains event 41`,
    )
    .action(async (name: string | undefined, flags: TreeFlags) => {
      const id = await sessionNamed(name, flags);
      if (flags.to !== undefined) await goTo(id, wholeNumber("--to", flags.to, EVENT_NUMBER), flags);
      const tree = await withLog(openToRead(id, flags), ({ events }) => buildTree(events));
      if (flags.json === true) printTree(terminal.stdout, tree);
      else if (tree.length === 0) terminal.stderr.write("The session has no turns yet.\n");
      else printLines(terminal.stdout, linesOf(tree));
      finish(EXIT.ok);
    });
}

/** An agent needs a model, but this one makes no request, so the emulator is named and never started. */
async function goTo(id: string, to: number, flags: StoreFlags): Promise<void> {
  const session = await createAgent({ model: emulator() }).open({ id, store: await openStore(flags) });
  try {
    await session.checkout({ to });
  } finally {
    await session.close();
  }
}

/** In a long session every turn is the child of the previous one: too deep for JSON.stringify, and to indent. */
const DEEPEST_INDENTED = 500;

function printTree(out: Terminal["stdout"], tree: readonly TreeTurn[]): void {
  let level = tree;
  for (let depth = 0; depth < DEEPEST_INDENTED; depth += 1) level = level.flatMap(({ children }) => children);
  if (level.length === 0) printJson(out, tree);
  else printLines(out, jsonOf(tree));
}

/** JSON with one turn per line. */
function* jsonOf(tree: readonly TreeTurn[]): Generator<string> {
  const open = [{ turns: tree, next: 0 }];
  yield "[";
  for (let level = open.at(-1); level !== undefined; level = open.at(-1)) {
    const turn = level.turns[level.next];
    if (turn === undefined) {
      open.pop();
      yield open.length === 0 ? "]" : "]}";
      continue;
    }
    const { children, ...own } = turn;
    yield `${level.next === 0 ? "" : ","}${JSON.stringify(own).slice(0, -1)},"children":[`;
    level.next += 1;
    open.push({ turns: children, next: 0 });
  }
}

/**
 * Consecutive turns share an indent; only branches are indented further. Not recursive, because in a long session every
 * turn is the child of the previous one.
 */
function linesOf(roots: readonly TreeTurn[]): readonly string[] {
  const lines: string[] = [];
  const open: Row[] = rowsOf(roots, "");
  for (let row = open.pop(); row !== undefined; row = open.pop()) {
    const { turn, lead, below } = row;
    const how = [
      ...(turn.why === "message" ? [] : [turn.why]),
      ...(turn.status === "completed" ? [] : [turn.status]),
      ...(turn.compacted ? ["after a compaction"] : []),
      ...turn.subAgents.map((id) => `sub-agent ${inertLine(id, 64)}`),
    ];
    lines.push(
      `${lead}${turn.active ? "*" : " "} [${turn.seq}–${turn.end}] ${inertLine(turn.text, 70)}${
        how.length === 0 ? "" : ` (${how.join(", ")})`
      }`,
    );
    for (const child of rowsOf(turn.children, below)) open.push(child);
  }
  return lines;
}

interface Row {
  readonly turn: TreeTurn;
  /** The prefix of this row; `below` is the prefix of its children. */
  readonly lead: string;
  readonly below: string;
}

/** Deeper branches are not indented further. */
const WIDEST_INDENT = 80;

/** In reverse order, because the caller pops from the end. */
function rowsOf(turns: readonly TreeTurn[], indent: string): Row[] {
  const parts = turns.length > 1 && indent.length < WIDEST_INDENT;
  return turns
    .map((turn, index): Row => {
      const last = index === turns.length - 1;
      const lead = `${indent}${parts ? (last ? "└ " : "├ ") : ""}`;
      return { turn, lead, below: `${indent}${parts ? (last ? "  " : "│ ") : ""}` };
    })
    .toReversed();
}
