/**
 * The tool most conversations with the emulator need: it returns the weather of a city, which is always the same.
 *
 * @module
 */

import { tool, type Tool } from "../../src/runtime/tools/index.ts";

export const weatherTool: Tool = tool({
  name: "get_weather",
  description: "Weather of a city",
  input: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
  access: "read",
  run: (_input, { progress }) => {
    progress("asking the sky");
    return "sunny";
  },
});
