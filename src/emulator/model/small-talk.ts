/**
 * Any other prompt: a sensible conversation. Remembers what the request shows (names, earlier questions) and what its
 * own notes hold (a number it thought of), and says so if the notes did not come back.
 */

import { stringOf } from "../../base/support/index.ts";
import { callOf } from "./obligations.ts";
import { type Step, stepOf, think } from "./step.ts";
import { numberFrom, shortly, type Turn } from "./turn.ts";

export function smallTalk(turn: Turn): Step {
  const { text } = turn;
  if (turn.calls.some((call) => call.result !== undefined)) return afterCalls(turn);
  if (/\b(think|pick|choose)\b.*\bnumber\b/i.test(text) && !/\bwh(at|ich)\b/i.test(text)) {
    return {
      number: numberFrom(`${turn.earlier.length} ${text}`),
      parts: [
        think([
          "Choosing a number",
          "I choose a number and write it down in my notes, where only I can read it.",
        ]),
        { say: "I have thought of a number and kept it to myself. Ask me which one it was." },
      ],
    };
  }
  if (/\b(which|what)\b.*\bnumber\b|\bthe number\b/i.test(text)) return recallNumber(turn);
  const name = [...turn.earlier, text]
    .map((one) => /my name is (\p{Lu}[\p{L}-]*)/u.exec(one)?.[1])
    .findLast(Boolean);
  if (/what('s| is) my name|who am i/i.test(text)) {
    return stepOf(think(["Looking back", "The name is in what the user wrote, if it is anywhere."]), {
      say: name === undefined ? "You have not told me your name yet." : `Your name is ${name}.`,
    });
  }
  if (
    /are you (real|an? (?:real )?(ai|model|emulator|human|robot)|gpt|chatgpt|claude)|who are you|what are you/i.test(
      text,
    )
  ) {
    return stepOf(think(["Saying what I am", "Nobody should mistake me for a real model."]), {
      say: turn.first
        ? "Ask me for the weather, or to read a file, and I will use the tools you give me."
        : "I am the Throughline emulator. There is no real model behind me: I follow fixed rules, so that clients can be tested without a key.",
    });
  }
  if (/(what|which).*(did i|have i).*(ask|say|said|first)/i.test(text)) {
    const [first] = turn.earlier;
    return stepOf(think(["Looking back", "I look at what this request shows me of the conversation."]), {
      say:
        first === undefined
          ? "This is the first thing you have said."
          : `You began with: “${shortly(first, 160)}”`,
    });
  }
  const tool = mentionedTool(turn);
  if (tool !== undefined) return callOf(turn, tool, "The user speaks of what this tool does, so I use it.");
  return stepOf(
    think(
      ["Reading the message", "The user has no task for a tool that I know."],
      ["Answering", "I answer briefly and say what I can do."],
    ),
    {
      say: `You said: “${shortly(text, 160)}”. ${
        turn.earlier.length > 0
          ? `I can see ${turn.earlier.length} earlier message${turn.earlier.length === 1 ? "" : "s"} of yours. `
          : ""
      }Try ${suggestions(turn)}.`,
    },
  );
}

/** Only what it can do with the tools it was given. */
function suggestions(turn: Turn): string {
  const has = (name: string): boolean => turn.view.tools.some((tool) => tool["name"] === name);
  const known = [
    ...(has("get_weather") ? ["“What is the weather in Paris?”"] : []),
    ...(has("read_file") ? ["“Read README.md and summarise it”"] : []),
    ...(has("list_files") ? ["“List the files here”"] : []),
    "“Think of a number”",
  ];
  return known.length === 1 ? (known[0] ?? "") : `${known.slice(0, -1).join(", ")} or ${known.at(-1)}`;
}

function recallNumber(turn: Turn): Step {
  const number = turn.notes.findLast((note) => note.number !== undefined)?.number;
  const asked = turn.earlier.some((one) => /\b(think|pick|choose)\b.*\bnumber\b/i.test(one));
  const say =
    number !== undefined
      ? `I thought of ${number}. It was in my own notes, and they came back to me.`
      : asked
        ? "I no longer have my notes from when I thought of a number, so I cannot tell you which one it was."
        : "I have not thought of a number yet. Ask me to.";
  return {
    number,
    parts: [
      think([
        "Looking in my notes",
        "The number was never said aloud; it can only be in my earlier reasoning.",
      ]),
      { say },
    ],
  };
}

/** A tool that the user's text mentions: "run_tests" for "please run the tests". Each only once per turn. */
function mentionedTool(turn: Turn) {
  if (turn.view.toolChoice === "none") return undefined;
  const text = turn.text.toLowerCase();
  return turn.view.tools.find((tool) => {
    const name = (stringOf(tool["name"]) ?? "").toLowerCase();
    if (name === "" || turn.calls.some((call) => call.name.toLowerCase() === name)) return false;
    const words = name.split(/[_-]/).filter((word) => word.length > 2 && word !== "get");
    return (
      text.includes(name) ||
      (words.length > 0 && words.every((word) => text.includes(word.replace(/s$/, ""))))
    );
  });
}

function afterCalls(turn: Turn): Step {
  const lines = turn.calls.map(
    (call) => `${call.name}${call.failed ? " failed" : ""}: ${shortly(call.result ?? "no result", 200)}`,
  );
  const say =
    lines.length === 1
      ? `The tool answered. ${lines[0] ?? ""}`
      : `The tools answered.\n${lines.map((line) => `- ${line}`).join("\n")}`;
  return stepOf(think(["Reading the results", "I answer from what the tools returned."]), { say });
}
