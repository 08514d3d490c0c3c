import { describe, expect, test } from "vitest";

import { bytesOf, error, expected, OF_HISTORY, output, through } from "./support/refusals.ts";
import { answerBytes, ask, JSON_TYPE, openProxy, requestTo, startUpstream } from "./support/wire.ts";

const user = (content: string): object => ({ role: "user", content });

const reference = (id: string): object => ({ type: "item_reference", id });

describe("a client that leaves its history at the provider", () => {
  const message = {
    type: "message",
    id: "msg_68af0c11d2a94e5b",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: "It is sunny in Paris.", annotations: [] }],
  };
  const stored = { type: "reasoning", id: "rs_68af0c11d2a94e5b", summary: [] };
  const response = {
    id: "resp_68af0c11d2a94e5b",
    object: "response",
    status: "completed",
    store: true,
    model: "m",
    output: [stored, message],
  };
  const NEXT: Readonly<Record<string, object>> = {
    "previous_response_id and a word": { previous_response_id: response.id, input: [user("And Rome?")] },
    "previous_response_id and a string": { previous_response_id: response.id, input: "And Rome?" },
    "previous_response_id and an output": { previous_response_id: response.id, input: [output] },
    "previous_response_id and no input": { previous_response_id: response.id },
    "a conversation": { conversation: "conv_1", input: [user("And Rome?")] },
    "a conversation as an object": { conversation: { id: "conv_1" }, input: [user("And Rome?"), output] },
    "a stored prompt": { prompt: { id: "pmpt_1" }, input: [user("And Rome?")] },
    references: { input: [user("Weather?"), reference(stored.id), reference(message.id), user("And Rome?")] },
    "a reference to the thought alone": {
      input: [user("Weather?"), reference(stored.id), message, user("And Rome?")],
    },
    "stored items with their ids": { input: [user("Weather?"), stored, message, user("And Rome?")] },
    "only references": { input: [reference(stored.id), reference(message.id)] },
  };

  test.for(Object.entries(NEXT))("%s: no byte of the request changes", async ([, next]) => {
    const upstream = await startUpstream(answerBytes("200 OK", [JSON_TYPE], JSON.stringify(response)));
    const proxy = await openProxy({ to: upstream.origin });
    const bodies = [{ input: [user("Weather?")] }, next, next].map((body) =>
      JSON.stringify({ model: "m", ...body }),
    );
    for (const body of bodies) await ask(proxy.port, requestTo(proxy.port, "/v1/responses", { body }));
    expect(upstream.requests.map((request) => request.body.toString())).toEqual(bodies);
  });

  test("a refused previous_response_id is passed on", async () => {
    const body = JSON.stringify({ model: "m", previous_response_id: "resp_gone", input: [output] });
    for (const status of ["400 Bad Request", "404 Not Found"]) {
      const refusal = {
        status,
        body: error("Previous response with id 'resp_gone' not found.", {
          code: "previous_response_not_found",
          param: "previous_response_id",
        }),
      };
      const { upstream, got } = await through(bytesOf(refusal), "/v1/responses", body);
      expect([upstream.requests.map((request) => request.body.toString()), got]).toEqual([
        [body],
        expected(refusal),
      ]);
    }
  });

  test("an output whose call is in a stored response is never taken out, whatever is refused", async () => {
    const body = JSON.stringify({ model: "m", previous_response_id: response.id, input: [output] });
    for (const text of OF_HISTORY["/v1/responses"] ?? []) {
      const { upstream } = await through(
        bytesOf({ status: "400 Bad Request", body: text }),
        "/v1/responses",
        body,
      );
      for (const request of upstream.requests)
        expect(JSON.parse(request.body.toString())).toMatchObject({
          previous_response_id: response.id,
          input: [output],
        });
    }
  });
});
