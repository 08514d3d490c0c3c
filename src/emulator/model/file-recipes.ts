/**
 * Documented prompts about files and commands, for the command line's tools: list_files, read_file, search_files,
 * write_file, edit_file, run_command.
 */

import type { Recipe } from "./recipes.ts";
import { type Part, type Step, stepOf, think } from "./step.ts";
import {
  looksFailed,
  looksRefused,
  type MadeCall,
  pathIn,
  quotedIn,
  shortly,
  toolNamed,
  says,
  type Turn,
} from "./turn.ts";

const refusedCommand: Recipe = {
  name: "refused tool",
  prompt: "Run a command that I will refuse.",
  wants: says(/\brun\b/i),
  next(turn) {
    const tool = toolNamed(turn, /^run_command$/);
    if (tool === undefined) return undefined;
    const [made] = turn.calls;
    const command = quotedIn(turn.text)[0] ?? "date";
    if (made === undefined) {
      return stepOf(think(["Running a command", `I run ${command}.`]), { call: tool, with: { command } });
    }
    return stepOf(think(["Reading the outcome", "I answer from what the command returned."]), {
      say: outcome(made, `\`${command}\``),
    });
  },
};

const missingFile: Recipe = {
  name: "failing tool",
  prompt: "Read a file that does not exist.",
  wants: says(/does not exist|doesn't exist|missing file/i),
  next(turn) {
    const tool = toolNamed(turn, /^read_file$/);
    if (tool === undefined) return undefined;
    const path = pathIn(turn.text) ?? "does-not-exist.txt";
    const [made] = turn.calls;
    if (made === undefined) {
      return stepOf(think(["Trying to read", `I expect that ${path} is not there.`]), {
        call: tool,
        with: { path },
      });
    }
    return stepOf(think(["Facing the failure", "The tool did not give me a file."]), {
      say: outcome(made, path),
    });
  },
};

const interleaved: Recipe = {
  name: "interleaved",
  prompt: "Look at two files, thinking in between.",
  wants: says(/thinking in between|think in between|between each/i),
  next(turn) {
    const tool = toolNamed(turn, /^read_file$/) ?? toolNamed(turn, /./);
    if (tool === undefined) return undefined;
    const files = ["README.md", "package.json"];
    const open = files.slice(turn.calls.length);
    if (open.length === 0) return stepOf(think(["Comparing", "I have both."]), { say: listed(turn) });
    const now = turn.view.parallel ? open : open.slice(0, 1);
    return {
      parts: now.flatMap((path): Part[] => [
        think([`Looking at ${path}`, "I read it, then think again."]),
        { call: tool, with: { path } },
      ]),
    };
  },
};

const chain: Recipe = {
  name: "five steps",
  prompt: "Do the five-step chain.",
  wants: says(/five[- ]step|5[- ]step/i),
  next(turn) {
    const steps: readonly (readonly [RegExp, string, () => Record<string, unknown>])[] = [
      [/^list_files$/, "Looking around", () => ({ path: "." })],
      [/^read_file$/, "Reading one file", () => ({ path: firstFile(turn.calls[0]?.result ?? "") })],
      [/^search_files$/, "Searching", () => ({ pattern: "emulator" })],
      [
        /^write_file$/,
        "Writing a note",
        () => ({ path: "emulator-note.txt", content: "Written by the emulator.\n" }),
      ],
      [/^read_file$/, "Checking the note", () => ({ path: "emulator-note.txt" })],
    ];
    const possible = steps.filter(([pattern]) => toolNamed(turn, pattern) !== undefined);
    const next = possible[turn.calls.length];
    if (possible.length === 0) return undefined;
    if (next === undefined)
      return stepOf(think(["Summing up", "Every step is done."]), { say: listed(turn) });
    const [pattern, title, args] = next;
    const body = `Step ${turn.calls.length + 1} of ${possible.length}.`;
    return stepOf(think([title, body]), { call: toolNamed(turn, pattern) ?? "", with: args() });
  },
};

const findAndEdit: Recipe = {
  name: "find and edit",
  prompt: "Find TODO in notes.txt and replace it with DONE.",
  wants: says(/\breplace\b/i),
  next(turn) {
    const search = toolNamed(turn, /^search_files$/);
    const edit = toolNamed(turn, /^edit_file$/);
    if (edit === undefined) return undefined;
    const match = /(?:find|replace)\s+[`"']?([^`"'\s]+)[`"']?[^]*?\bwith\s+[`"']?([^`"'\s.]+)/i.exec(
      turn.text,
    );
    const [, find = "TODO", replace = "DONE"] = match ?? [];
    const searched = turn.calls.find((call) => call.name === search);
    const edited = turn.calls.find((call) => call.name === edit);
    if (edited !== undefined) {
      return stepOf(think(["Checking the edit", "The edit is made, or it is not."]), {
        say: outcome(edited, `Replacing ${find} with ${replace}`),
      });
    }
    const path = pathIn(turn.text) ?? pathIn(` ${searched?.result?.split(/[\n:]/)[0] ?? ""} `);
    if (searched === undefined && search !== undefined) {
      return stepOf(think(["Finding the text", `I look for ${find}.`]), {
        call: search,
        with: { pattern: find },
      });
    }
    if (path === undefined) {
      return stepOf(think(["Nothing found", "Without a place there is no edit."]), {
        say: `I did not find ${find}, so I changed nothing.`,
      });
    }
    return stepOf(think(["Editing", `I replace ${find} in ${path}.`]), {
      call: edit,
      with: { path, find, replace },
    });
  },
};

/** One tool, one answer: reading, listing, searching, writing. */
function single(options: {
  readonly name: string;
  readonly prompt: string;
  readonly words: RegExp;
  readonly tool: RegExp;
  readonly title: string;
  readonly arguments: (text: string) => Record<string, unknown>;
  readonly report: (turn: Turn, made: MadeCall) => string;
}): Recipe {
  return {
    name: options.name,
    prompt: options.prompt,
    wants: says(options.words),
    next(turn): Step | undefined {
      const tool = toolNamed(turn, options.tool);
      if (tool === undefined) return undefined;
      const made = turn.calls.find((call) => call.name === tool);
      if (made === undefined) {
        return stepOf(think([options.title, `I use ${tool}.`]), {
          call: tool,
          with: options.arguments(turn.text),
        });
      }
      return stepOf(think(["Reading the result", "I answer from it."]), { say: options.report(turn, made) });
    },
  };
}

export const fileRecipes: readonly Recipe[] = [
  chain,
  interleaved,
  missingFile,
  findAndEdit,
  single({
    name: "read and summarise",
    prompt: "Read README.md and summarise it.",
    words: /\b(read|open|show|summari[sz]e)\b.*(\.\w+|\/|\bfile\b)/i,
    tool: /^read_file$/,
    title: "Reading the file",
    arguments: (text) => ({ path: pathIn(text) ?? "README.md" }),
    report: (turn, made) => summaryOf(pathIn(turn.text) ?? "README.md", made),
  }),
  single({
    name: "write",
    prompt: "Write hello.txt.",
    words: /\b(write|create|save)\b.*(\.\w+|\bfile\b)/i,
    tool: /^write_file$/,
    title: "Writing a file",
    arguments: (text) => ({
      path: pathIn(text) ?? "emulator-note.txt",
      content: `${quotedIn(text).find((one) => !one.includes(".")) ?? "Written by the emulator."}\n`,
    }),
    report: (turn, made) => outcome(made, pathIn(turn.text) ?? "emulator-note.txt"),
  }),
  single({
    name: "search",
    prompt: 'Search for "import".',
    words: /\b(search|grep|find)\b/i,
    tool: /^search_files$/,
    title: "Searching",
    arguments: (text) => ({ pattern: quotedIn(text)[0] ?? /\bfor\s+(\S+)/i.exec(text)?.[1] ?? "TODO" }),
    report: (_turn, made) => outcome(made, "The search"),
  }),
  single({
    name: "list",
    prompt: "List the files.",
    words: /\b(list|which|what)\b.*\b(files?|folder|directory|here)\b/i,
    tool: /^list_files$/,
    title: "Looking around",
    arguments: (text) => ({ path: pathIn(text) ?? "." }),
    report: (_turn, made) => outcome(made, "The list"),
  }),
  refusedCommand,
];

function outcome({ result = "", failed }: MadeCall, what: string): string {
  if (looksRefused(result)) {
    return `You did not allow it, so it was not done and I will not try again. (${shortly(result, 120)})`;
  }
  if (failed || looksFailed(result)) return `That did not work: ${shortly(result, 200)}`;
  return `${what}: ${shortly(result, 300) || "done, with nothing to show"}`;
}

function summaryOf(path: string, made: MadeCall): string {
  const { result = "", failed } = made;
  if (failed || looksRefused(result)) return outcome(made, path);
  const lines = result.trimEnd().split("\n");
  const heading = lines.find((line) => /^\s*(?:\d+[\s|:→]+)?#\s/.test(line))?.replace(/^.*?#+\s*/, "");
  const words = result.match(/\S+/g)?.length ?? 0;
  const title = heading === undefined ? "" : ` It is headed “${heading.trim()}”.`;
  return `${path} has ${lines.length} ${lines.length === 1 ? "line" : "lines"} and ${words} ${words === 1 ? "word" : "words"}.${title} It begins: ${shortly(result, 160)}`;
}

function listed(turn: Turn): string {
  const lines = turn.calls.map(
    ({ name, failed, result = "" }, index) =>
      `${index + 1}. ${name}${failed ? " failed" : ""}: ${shortly(result, 80)}`,
  );
  return `Done, in ${turn.calls.length} ${turn.calls.length === 1 ? "call" : "calls"}:\n${lines.join("\n")}`;
}

function firstFile(list: string): string {
  return pathIn(` ${list.replaceAll(/[\n,]/g, " ")} `) ?? "README.md";
}
