/**
 * The documented prompts (docs/emulator.md): fixed sequences of calls, chosen by the user's text and the available
 * tools. A recipe looks only at the turn, so it continues correctly from any replayed history.
 */

import { fileRecipes } from "./file-recipes.ts";
import { type Part, type Step, stepOf, think } from "./step.ts";
import { citiesIn, looksFailed, looksRefused, says, shortly, toolNamed, type Turn } from "./turn.ts";

export interface Recipe {
  readonly name: string;
  /** A prompt that starts it, as documented. */
  readonly prompt: string;
  wants(turn: Turn): boolean;
  /** Returns `undefined` if it is not possible here (no such tool); the next recipe may try. */
  next(turn: Turn): Step | undefined;
}

const thinkingAloud: readonly Recipe[] = [
  {
    name: "silent",
    prompt: "Think without a summary.",
    wants: says(/without a summary|no summary/i),
    next: () =>
      stepOf(
        { think: [["Thinking", "Nobody sees this."]], silent: true },
        { say: "I have thought about it, and this time my reasoning has no summary at all." },
      ),
  },
  {
    name: "redacted",
    prompt: "Think in secret.",
    wants: says(/\bin secret\b|\bredacted\b/i),
    next: () =>
      stepOf(
        { think: [["Thinking in secret", "This thought comes back as nothing but data."]], redacted: true },
        { say: "I have thought about it in secret: you hold that thought, and only I can read it." },
      ),
  },
  {
    name: "long",
    prompt: "Write a long answer.",
    wants: says(/\blong (answer|story|text|reply)\b/i),
    next: () =>
      stepOf(
        think(
          ["Planning a long answer", "I make twelve paragraphs."],
          ["Choosing the order", "From first to last."],
        ),
        { say: longAnswer() },
      ),
  },
  {
    name: "refusal",
    prompt: "Please refuse this.",
    wants: says(/\brefuse this\b/i),
    next: () =>
      stepOf(think(["Declining", "The user wants to see a refusal."]), {
        refuse: "I'm sorry, but I can't help with that.",
      }),
  },
  {
    name: "json",
    prompt: "Give me the facts as JSON.",
    wants: says(/\bas json\b|\bin json\b/i),
    next: () =>
      stepOf(think(["Structuring the answer", "The answer is data, not prose."]), {
        say: '```json\n{"emulator": true, "name": "throughline"}\n```',
      }),
  },
];

const webSearch: Recipe = {
  name: "web search",
  prompt: "Search the web for release notes.",
  wants: says(/search the web|look up online/i),
  next(turn) {
    if (!turn.view.tools.some((tool) => String(tool["type"]).startsWith("web_search"))) return undefined;
    const url = "https://example.com/emulated";
    return stepOf(
      think(["Searching", "I look for it on the web."]),
      { search: turn.text.slice(0, 80) },
      think(["Reading the results", "One page fits."]),
      {
        say: "I found one page (emulated: nothing left this machine).",
        annotations: [
          { type: "url_citation", start_index: 0, end_index: 16, title: "An emulated page", url },
        ],
      },
    );
  },
};

const weather: Recipe = {
  name: "weather",
  prompt: "What is the weather in Paris?",
  wants: says(/\bweather\b/i),
  next(turn) {
    const tool = toolNamed(turn, /weather/i);
    if (tool === undefined) return undefined;
    const asked = citiesIn(turn.text);
    const cities = asked.length > 0 ? asked : ["Paris"];
    const open = cities.slice(turn.calls.filter((call) => call.name === tool).length);
    if (open.length === 0)
      return stepOf(think(["Reading the reports", "I answer from the results."]), {
        say: weatherReport(turn, cities),
      });
    const now = turn.view.parallel ? open : open.slice(0, 1);
    const many = now.length > 1;
    return stepOf(
      think(
        [
          many ? "Checking several cities" : "Checking the weather",
          `I need the weather of ${now.join(" and ")}.`,
        ],
        ["Choosing the tool", many ? `I call ${tool} for each at once.` : `I call ${tool}.`],
      ),
      ...now.map((city): Part => ({ call: tool, with: { city } })),
    );
  },
};

function weatherReport(turn: Turn, cities: readonly string[]): string {
  const lines = cities.map((city, index) => {
    const { result = "no report", failed = false } = turn.calls[index] ?? {};
    if (looksRefused(result)) return `${city}: I was not allowed to look.`;
    return failed || looksFailed(result)
      ? `${city}: no report (${shortly(result, 80)})`
      : `${city}: ${shortly(result, 120)}`;
  });
  return lines.length === 1
    ? (lines[0] ?? "")
    : `Here is the weather:\n${lines.map((line) => `- ${line}`).join("\n")}`;
}

const commentary: Recipe = {
  name: "commentary",
  prompt: "Explain while you work.",
  wants: says(/explain while|while you work|step by step, telling/i),
  next(turn) {
    const tool = toolNamed(turn, /^list_files$/) ?? toolNamed(turn, /./);
    if (tool === undefined) return undefined;
    const [made] = turn.calls;
    if (made === undefined) {
      return stepOf(
        think(["Announcing the work", "I say what I do before I do it."]),
        { comment: "I will look around first, then tell you what I found." },
        { call: tool, with: tool === "list_files" ? { path: "." } : {} },
      );
    }
    return stepOf(
      think(["Concluding", "I have what I need."]),
      { comment: "I have looked around." },
      {
        say: made.failed
          ? `I found nothing, the tool failed: ${shortly(made.result ?? "", 200)}`
          : `This is what I found: ${shortly(made.result ?? "nothing", 200)}`,
      },
    );
  },
};

const SUMMARY_ASKED = /^summari[sz]e (?:this|the) conversation/i;

/** Requested by the user, or, as compacting clients do, by a system message after everything else. */
const summary: Recipe = {
  name: "summary",
  prompt: "Summarise this conversation.",
  wants: ({ view }) => {
    const last = view.seen.at(-1);
    return (last?.type === "user" || last?.type === "system") && SUMMARY_ASKED.test(last.text);
  },
  next: ({ view }) => {
    const asked = view.seen.flatMap((one) =>
      one.type === "user" && !SUMMARY_ASKED.test(one.text) ? [`“${shortly(one.text, 80)}”`] : [],
    );
    const tools = [...new Set(view.seen.flatMap((one) => (one.type === "call" ? [one.name] : [])))];
    const said = view.seen.filter((one) => one.type === "assistant").length;
    const before = view.seen.find((one) => one.type === "system" && one.text.startsWith("Summary of"));
    const sentences = [
      ...(before?.type === "system" ? [shortly(before.text.replaceAll(/\s+/g, " "), 300)] : []),
      asked.length === 0 ? "Nothing was asked." : `The user said: ${asked.slice(-12).join(", ")}.`,
      ...(tools.length === 0 ? [] : [`Tools used: ${tools.join(", ")}.`]),
      `There ${said === 1 ? "was 1 answer" : `were ${said} answers`}.`,
    ];
    return stepOf(think(["Looking back", "I put together what this request shows me of the conversation."]), {
      say: sentences.join(" "),
    });
  },
};

export const recipes: readonly Recipe[] = [
  summary,
  ...thinkingAloud,
  webSearch,
  commentary,
  ...fileRecipes,
  weather,
];

function longAnswer(): string {
  return "logs folds groups ids ciphertext prefixes turns steps faults retries reports tests"
    .split(" ")
    .map(
      (topic, index) =>
        `${index + 1}. About ${topic}. A log that only grows keeps what was said; what is derived from it can be derived again. ` +
        `So it is with ${topic}: they are never changed, only followed by something newer, and whoever reads them later sees what was true at the time. ` +
        "This paragraph says nothing more, but it says it at some length, so that a screen has to scroll and a stream has to last.",
    )
    .join("\n\n");
}
