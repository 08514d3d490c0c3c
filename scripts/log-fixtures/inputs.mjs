/** Inputs other than text: pictures, files, large output, an answer with a schema. Also text that is hard to encode. */
import { fileStore, tool } from "../../src/index.ts";
import { call, chat, ended, eventsOf, messages, responses, say, session } from "./session.mjs";

/** One red dot. */
const DOT =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

const picture = { type: "image", mediaType: "image/png", data: DOT };
const file = { type: "file", name: "notes.txt", mediaType: "text/plain" };
const text = (words) => ({ type: "text", text: words });

const big = tool({
  name: "read_all",
  description: "Everything there is",
  input: { type: "object", properties: {}, additionalProperties: false },
  access: "read",
  run: () => "A line of output.\n".repeat(3700),
});

const schema = {
  type: "object",
  properties: { city: { type: "string" }, degrees: { type: "number" } },
  required: ["city", "degrees"],
  additionalProperties: false,
};

const FACTS = '{"city":"Paris","degrees":21}';

const structured = (model) => (id, folder) =>
  session(
    id,
    folder,
    {
      model,
      // The first answer does not fit the schema, so the runtime requests it again.
      steps: [{ output: [say('{"city":"Paris"}')] }, { output: [say(FACTS)] }],
    },
    async (_, { ask }) => {
      await ask("Give me the facts as JSON.", { output: schema });
      await ask("Thanks");
    },
  );

export const inputs = {
  "picture-and-file": async (id, folder) => {
    // Stored beforehand: only content that is too large for a log becomes a blob automatically, and fixtures should be small.
    const log = await fileStore(folder).open(id, { mode: "write" });
    const blob = await log.putBlob(Buffer.from(DOT, "base64"));
    const notes = await log.putBlob(Buffer.from("All is well.\n"));
    await log.close();
    await session(id, folder, { model: responses() }, async (opened, { ask }) => {
      await ask([text("What is this?"), picture, { type: "image", mediaType: "image/png", blob }]);
      await ask([
        text("And this?"),
        { ...file, blob: notes },
        { type: "image", url: "https://example.com/dot.png" },
      ]);
      await opened.setModel(messages());
      await ask("Thanks");
      await opened.setModel(chat("emu-chat", "openai-chat"));
      await ask("Thanks again");
    });
  },
  "tool-output-as-blob": (id, folder) =>
    session(
      id,
      folder,
      {
        model: messages(),
        agent: { tools: [big] },
        steps: [{ output: [call("read_all", {})] }, { output: [say("That is much.")] }],
      },
      async (_, { ask }) => {
        await ask("Read all.");
        await ask("Thanks");
      },
    ),
  "structured-output-responses": structured(responses()),
  "structured-output-chat": structured(chat("emu-chat", "openai-chat")),
  // The schema is logged before the message, and a retry and an edit keep it.
  "structured-again": (id, folder) =>
    session(
      id,
      folder,
      { model: messages(), steps: Array.from({ length: 3 }, () => ({ output: [say(FACTS)] })) },
      async (opened, { ask }) => {
        await ask("Give me the facts as JSON.", { output: schema });
        await ended(opened.retry());
        const { seq } = (await eventsOf(opened)).find(({ type }) => type === "user_message");
        await ended(opened.edit(seq, "Give me all the facts as JSON."));
        await ask("Thanks");
      },
    ),
  "hard-text": (id, folder) =>
    session(
      id,
      folder,
      {
        model: responses(),
        steps: [
          {
            output: [
              { reasoning: ["**“Größe” \u2028 \\n**\n\n👋🏽 \u0000 \t\r\n"] },
              say("\u2029 “a\\b” \u0007 🏴‍☠️ 12345678901234567890 </script>"),
            ],
          },
          {
            output: [
              call("get_weather", '{ "city" : "Paris\\u2028", "n": 12345678901234567890, "z": -0 }'),
              // Provider items stay unchanged: numbers that no double can represent, repeated escapes, the order of members.
              { item: { type: "surprise", z: 1, a: "\u2028\\u2028", nested: { text: "é" } } },
            ],
          },
        ],
      },
      async (_, { ask }) => {
        await ask("Grüße 👋\u2028“a\\b”\u0000\ttab\r\nnew line");
        await ask("Go on.");
        await ask("Thanks");
      },
    ),
};
