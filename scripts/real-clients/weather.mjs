/** The clients' tool. The built-in model has prompts for it. */
export const weather = {
  name: "get_weather",
  description: "The weather in a city.",
  parameters: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
  run: ({ city }) => `Sunny in ${city}, 21 °C`,
};
