/**
 * One streamed answer of the Responses API, event by event, like the real API's: numbered events, padding against length
 * attacks, and every item again in `done` and in `completed`.
 *
 * @module
 */

export const MODEL = "gpt-5.1-codex-max";

export class ResponseWriter {
  #random;
  #events = [];
  #output = [];
  #id;
  /** The totals that a client must have at the end. */
  truth = { text: 0, reasoning: 0, summaryParts: 0, arguments: 0, calls: 0, ciphertexts: [] };

  constructor(random) {
    this.#random = random;
    this.#id = `resp_${random.hex(48)}`;
    this.#push("response.created", { response: this.#response("in_progress", []) });
    this.#push("response.in_progress", { response: this.#response("in_progress", []) });
  }

  get count() {
    return this.#events.length;
  }

  /** `parts` has the deltas of each part of the summary. */
  reasoning(parts, ciphertext) {
    const id = `rs_${this.#random.hex(48)}`;
    const at = { item_id: id, output_index: this.#output.length };
    this.#push("response.output_item.added", {
      output_index: at.output_index,
      item: { id, type: "reasoning", encrypted_content: this.#random.base64(120), summary: [] },
    });
    const summary = [];
    for (const [index, deltas] of parts.entries()) {
      const where = { ...at, summary_index: index };
      this.#push("response.reasoning_summary_part.added", {
        ...where,
        part: { type: "summary_text", text: "" },
      });
      for (const delta of deltas) {
        this.#delta("response.reasoning_summary_text.delta", where, delta);
      }
      const text = deltas.join("");
      this.#push("response.reasoning_summary_text.done", { ...where, text });
      this.#push("response.reasoning_summary_part.done", { ...where, part: { type: "summary_text", text } });
      summary.push({ type: "summary_text", text });
      this.truth.reasoning += text.length;
    }
    this.truth.summaryParts += parts.length;
    this.truth.ciphertexts.push(ciphertext);
    this.#done({ id, type: "reasoning", encrypted_content: ciphertext, summary });
  }

  message(deltas) {
    const id = `msg_${this.#random.hex(48)}`;
    const at = { item_id: id, output_index: this.#output.length, content_index: 0 };
    const empty = { type: "output_text", annotations: [], logprobs: [], text: "" };
    this.#push("response.output_item.added", {
      output_index: at.output_index,
      item: { id, type: "message", status: "in_progress", content: [], role: "assistant" },
    });
    this.#push("response.content_part.added", { ...at, part: empty });
    for (const delta of deltas) this.#delta("response.output_text.delta", { ...at, logprobs: [] }, delta);
    const text = deltas.join("");
    this.#push("response.output_text.done", { ...at, logprobs: [], text });
    this.#push("response.content_part.done", { ...at, part: { ...empty, text } });
    this.truth.text += text.length;
    this.#done({
      id,
      type: "message",
      status: "completed",
      content: [{ ...empty, text }],
      role: "assistant",
    });
  }

  call(name, deltas) {
    const id = `fc_${this.#random.hex(48)}`;
    const callId = `call_${this.#random.hex(24)}`;
    const at = { item_id: id, output_index: this.#output.length };
    const item = { id, type: "function_call", status: "in_progress", arguments: "", call_id: callId, name };
    this.#push("response.output_item.added", { output_index: at.output_index, item });
    for (const delta of deltas) this.#delta("response.function_call_arguments.delta", at, delta);
    const text = deltas.join("");
    this.#push("response.function_call_arguments.done", { ...at, arguments: text });
    this.truth.arguments += text.length;
    this.truth.calls += 1;
    this.#done({ ...item, status: "completed", arguments: text });
  }

  /** The whole answer as bytes. */
  finish() {
    this.#push("response.completed", { response: this.#response("completed", this.#output) });
    return Buffer.from(this.#events.join(""));
  }

  /** The events of the answer, for the rows that pace them. */
  finishInPieces() {
    this.#push("response.completed", { response: this.#response("completed", this.#output) });
    return this.#events.map((event) => Buffer.from(event));
  }

  #done(item) {
    this.#push("response.output_item.done", { output_index: this.#output.length, item });
    this.#output.push(item);
  }

  #delta(type, where, delta) {
    const obfuscation = this.#random.base64(Math.max(1, 16 - delta.length));
    this.#push(type, { ...where, delta, obfuscation });
  }

  #push(type, fields) {
    const data = JSON.stringify({ type, sequence_number: this.#events.length, ...fields });
    this.#events.push(`event: ${type}\ndata: ${data}\n\n`);
  }

  #response(status, output) {
    return {
      id: this.#id,
      object: "response",
      created_at: 1765552659,
      status,
      background: false,
      error: null,
      incomplete_details: null,
      instructions: null,
      max_output_tokens: null,
      model: MODEL,
      output,
      parallel_tool_calls: true,
      previous_response_id: null,
      reasoning: { effort: "high", summary: "detailed" },
      service_tier: "auto",
      store: false,
      temperature: 1,
      text: { format: { type: "text" }, verbosity: "medium" },
      tool_choice: "auto",
      tools: [],
      top_p: 1,
      truncation: "disabled",
      usage:
        status === "completed"
          ? {
              input_tokens: 1000,
              input_tokens_details: { cached_tokens: 0 },
              output_tokens: 100,
              output_tokens_details: { reasoning_tokens: 50 },
              total_tokens: 1100,
            }
          : null,
      metadata: {},
    };
  }
}
