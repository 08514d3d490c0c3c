/** The built-in model. */
import { stringOf } from "../../support/index.ts";
import type { Draft, Reply } from "../output/draft.ts";
import type { ModelView } from "./view.ts";

export function answer(view: ModelView): Reply {
  const output: Draft[] = [];
  const last = view.seen.at(-1);
  const user = view.seen.findLast((one) => one.type === "user");
  const text = user?.type === "user" ? user.text : "";
  const think = (title: string, body: string): void => {
    if (view.reasons)
      output.push({
        type: "reasoning",
        summary: view.summary === null ? [] : [`**${title}**\n\n${body}`],
        notes: body,
      });
  };
  const tool = view.tools.find((one) => stringOf(one["name"]) === "get_weather");
  if (last?.type === "user" && tool !== undefined && /weather/i.test(text)) {
    think("Looking up the weather", "I call the weather tool.");
    const city = /in ([A-Z]\w+)/.exec(text)?.[1] ?? "Paris";
    output.push({ type: "function_call", name: "get_weather", arguments: JSON.stringify({ city }) });
    return { output };
  }
  think("Answering", "I answer the question.");
  const results = view.seen.flatMap((one) => (one.type === "result" ? [one.text] : []));
  output.push({
    type: "message",
    text: `I am the Throughline emulator, not a real model. You said: ${text}${results.length > 0 ? ` Results: ${results.join("; ")}` : ""}`,
    phase: "final_answer",
  });
  return { output };
}
