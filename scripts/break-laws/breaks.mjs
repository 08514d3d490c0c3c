/**
 * One entry per way to break a law: a text in one file, its replacement, and the tests that must fail.
 * `find` must occur in the file exactly once: a break that no longer fits is an error, not a pass.
 *
 * @typedef {{law: number, what: string, file: string, find: string, replace: string, tests: string[]}} Break
 */

import { wholeGroupBreaks } from "./whole-groups.mjs";

const conversations = "test/properties/conversations.test.ts";
const prefixes = "test/properties/every-prefix.test.ts";
const crossing = "test/contracts/dialects/crossing.test.ts";
const requests = "test/contracts/dialects/dialect-requests.test.ts";
const crossings = "test/properties/crossing.test.ts";

/** @type {readonly {law: number, title: string}[]} */
export const laws = [
  { law: 1, title: "Verbatim at home, translated abroad" },
  { law: 2, title: "All item ids of a group or none" },
  { law: 3, title: "Only a completed response is replayed whole" },
  { law: 4, title: "Same prefix, same bytes" },
  { law: 5, title: "Log before act" },
  { law: 6, title: "Every reachable log can continue" },
  { law: 7, title: "Failures are events" },
  { law: 8, title: "Unknown is kept" },
  { law: 9, title: "Generating is not expanded" },
  { law: 10, title: "No key, no network: everything works" },
];

/** @type {readonly Break[]} */
export const breaks = [
  ...wholeGroupBreaks,
  {
    law: 1,
    what: "fields are parsed and rewritten when they are sent",
    file: "src/runtime/providers/openai-responses/render-items.ts",
    find: "if (outline !== undefined) elements.push({ text: item, outline, sources, piece });",
    replace:
      "if (outline !== undefined) elements.push({ text: JSON.stringify(JSON.parse(item)), outline, sources, piece });",
    tests: ["test/laws/law-1-verbatim-at-home.test.ts"],
  },
  {
    law: 1,
    what: "an item with omitted fields is parsed and rewritten",
    file: "src/runtime/providers/openai-responses/render-items.ts",
    find: "members.push(text === value ? member : { key, value: text });",
    replace: "members.push({ key, value: JSON.stringify(JSON.parse(text)) });",
    tests: [
      "test/laws/law-1-verbatim-at-home.test.ts",
      "src/runtime/providers/openai-responses/request.test.ts",
    ],
  },
  {
    law: 1,
    what: "items are parsed and rewritten when the log is read",
    file: "src/base/events/line.ts",
    find: "const item = line.slice(at + ITEM_KEY.length, -1);",
    replace: "const item = JSON.stringify(JSON.parse(line.slice(at + ITEM_KEY.length, -1)));",
    tests: ["test/laws/law-8-unknown-is-kept.test.ts"],
  },
  {
    law: 1,
    what: "items are parsed and rewritten when a line without a checksum is read",
    file: "src/base/events/line.ts",
    find: 'item: sliceMember(line, "item") }',
    replace: "item: JSON.stringify(JSON.parse(line).item) }",
    tests: ["test/laws/law-1-verbatim-at-home.test.ts", "test/laws/law-8-unknown-is-kept.test.ts"],
  },
  {
    law: 1,
    what: "payloads cross to another model and account",
    file: "src/runtime/fold/guard.ts",
    find: "  if (!isHome(group.origin, settings)) {",
    replace: "  if (group.origin.dialect !== settings.target.dialect) {",
    tests: ["test/laws/law-1-verbatim-at-home.test.ts", conversations, prefixes],
  },
  {
    law: 1,
    what: "the payload of the terminal event always replaces the item's own",
    file: "src/runtime/providers/openai-responses/terminal-items.ts",
    find: 'draft.type === "reasoning" && !draft.opaque',
    replace: 'draft.type === "reasoning"',
    tests: [conversations],
  },
  {
    law: 1,
    what: "Claude's blocks lose a field on the way home",
    file: "src/runtime/providers/anthropic-messages/block-fields.ts",
    find: 'thinking: ["type", "thinking", "signature"],',
    replace: 'thinking: ["type", "thinking"],',
    tests: [crossing, crossings],
  },
  {
    law: 1,
    what: "a thought is sent back in another field than it arrived in",
    file: "src/runtime/providers/openai-chat/request.ts",
    find: "    return refused || !(reasoningFields as readonly string[]).includes(event.itemType);",
    replace: "    return refused && reasoningFields.length === 0;",
    tests: [requests, crossings],
  },
  {
    law: 1,
    what: "another model's thought becomes a note without being requested",
    file: "src/runtime/fold/guard.ts",
    find: '      context.settings.foreign === "note" &&\n',
    replace: "",
    tests: [crossing],
  },
  {
    law: 2,
    what: "ids stay when the reasoning is removed",
    file: "src/runtime/fold/guard.ts",
    find: "    ),\n    withIds: false,\n  };",
    replace: "    ),\n    withIds: true,\n  };",
    tests: ["test/laws/law-2-ids-all-or-none.test.ts", conversations],
  },
  {
    law: 2,
    what: "ids are removed and the reasoning stays, at an endpoint that requires ids",
    file: "src/runtime/providers/openai-responses/render-items.ts",
    find: 'key === "id" ? !entry.withIds :',
    replace: 'key === "id" ? !entry.withIds || itemType !== "reasoning" :',
    tests: ["test/laws/law-2-ids-all-or-none.test.ts", conversations],
  },
  {
    law: 2,
    what: "an id that is too long is shortened",
    file: "src/runtime/providers/openai-responses/item-draft.ts",
    find: '...(id === undefined || id === "" ? {} : { itemId: id }),',
    replace: '...(id === undefined || id === "" ? {} : { itemId: id.slice(0, 64) }),',
    tests: ["test/laws/law-2-ids-all-or-none.test.ts"],
  },
  {
    law: 3,
    what: "the items of a cut stream are sent",
    file: "src/runtime/fold/guard.ts",
    find: '  cut: { omit: true, reason: "response_cut", why: "the stream was cut" },',
    replace: "  cut: undefined,",
    tests: ["test/laws/law-3-only-completed.test.ts"],
  },
  {
    law: 3,
    what: "an incomplete response is replayed whole",
    file: "src/runtime/fold/guard.ts",
    find: '  incomplete: { omit: false, reason: "response_incomplete", why: "the response is incomplete" },',
    replace: "  incomplete: undefined,",
    tests: ["test/laws/law-3-only-completed.test.ts"],
  },
  {
    law: 3,
    what: "a stream that ends without a terminal event counts as completed",
    file: "src/runtime/providers/openai-responses/stream.ts",
    find: 'status: this.#error === undefined ? "cut" : "failed", error',
    replace: 'status: this.#error === undefined ? "completed" : "failed", error',
    tests: ["test/laws/law-3-only-completed.test.ts"],
  },
  {
    law: 4,
    what: "a message carries the time at which it is rendered",
    file: "src/runtime/providers/openai-responses/render-items.ts",
    find: 'if (part.kind === "text") return { type: "input_text", text: part.text };',
    replace:
      'if (part.kind === "text") return { type: "input_text", text: `${part.text} (${process.hrtime.bigint()})` };',
    tests: ["test/laws/law-4-same-prefix-same-bytes.test.ts", conversations],
  },
  {
    law: 4,
    what: "a tool's results are joined with the user's next message",
    file: "src/runtime/providers/anthropic-messages/render-messages.ts",
    find: '  if (entry.kind === "user") return [userMessage(entry.event, plan, context)];',
    replace:
      '  if (entry.kind === "user") return [{ ...userMessage(entry.event, plan, context), text: JSON.stringify({ role: "user", content: [{ type: "text", text: String(plan.entries.length) }] }) }];',
    tests: [crossing, requests],
  },
  {
    law: 4,
    what: "bytes rendered before a correction are used after it",
    file: "src/runtime/providers/growing-request.ts",
    find: `      plan.revision === this.#revision &&
      head.equals(this.#head) &&
      plan.entries.length > last &&
      (last === -1 || plan.entries[last] === this.#planned[last])
`,
    replace: "      head.equals(this.#head) && plan.entries.length > last\n",
    tests: ["test/properties/incremental.test.ts", conversations],
  },
  {
    law: 4,
    what: "calls abroad get a new id with every request",
    file: "src/runtime/fold/fold.ts",
    find: "  const { callId } = item.event;\n",
    replace:
      '  const { callId } = item.event;\n  if (item.action === "translate") return { ...item, callId: `call_${Math.random()}`.slice(0, 30) };\n',
    tests: ["test/laws/law-4-same-prefix-same-bytes.test.ts", "test/properties/incremental.test.ts"],
  },
  {
    law: 5,
    what: "a tool runs before its start is durable",
    file: "src/runtime/turn/run-calls.ts",
    find: "  await context.live.append(drafts, { durable: true });",
    replace: "  await context.live.append(drafts);",
    tests: ["test/laws/law-5-log-before-act.test.ts"],
  },
  {
    law: 5,
    what: "a request goes out before its start is durable",
    file: "src/runtime/turn/step.ts",
    find: "[...remarks(context, rendered), start()], { durable: true });",
    replace: "[...remarks(context, rendered), start()]);",
    tests: ["test/laws/law-5-log-before-act.test.ts"],
  },
  {
    law: 5,
    what: "a call that had begun is run again after a crash",
    file: "src/runtime/turn/resume.ts",
    find: "      !group.wasStarted(call.callId) ||",
    replace: "      group.start.seq >= 0 ||",
    tests: ["test/laws/law-5-log-before-act.test.ts"],
  },
  {
    law: 5,
    what: "every event is synced separately (the number of syncs is also guaranteed)",
    file: "src/runtime/turn/live-log.ts",
    find: "    if (options.durable === true) await",
    replace: "    if (options.durable !== undefined || drafts.length > 0) await",
    tests: ["test/laws/law-5-log-before-act.test.ts"],
  },
  {
    law: 6,
    what: "thinking stays on for a model that takes over a tool loop",
    file: "src/runtime/providers/anthropic-messages/thinking.ts",
    find: '  const on = loop.length === 0 || off !== "disabled" ? wanted : loopThinks(loop, plan, mode, wanted);',
    replace: "  const on = wanted || (loop.length > 0 && loopThinks(loop, plan, mode, wanted));",
    tests: [crossing, crossings],
  },
  {
    law: 6,
    what: "thoughts that an endpoint requires are missing, and thinking stays on",
    file: "src/runtime/providers/openai-chat/thinking.ts",
    find: '(!lacking || thinkingSwitch === "none")',
    replace: "(lacking || !lacking)",
    tests: [crossing, requests, crossings],
  },
  {
    law: 6,
    what: "a call without a result is sent without one",
    file: "src/runtime/fold/fold.ts",
    find: "    const result = group.resultOf(call.callId);\n",
    replace: "    const result = group.resultOf(call.callId);\n    if (result === undefined) return [];\n",
    tests: [prefixes],
  },
  {
    law: 6,
    what: "a refusal is not healed",
    file: "src/runtime/turn/heal.ts",
    find: "  if (rung > MAX_RUNGS) return undefined;",
    replace: "  if (rung >= 0) return undefined;",
    tests: ["test/laws/law-6-every-log-can-go-on.test.ts", conversations],
  },
  {
    law: 6,
    what: "recovery records another text than the fold sent",
    file: "src/runtime/turn/recover.ts",
    find: "    ...(restored && result === NEVER_STARTED ? OUTCOME_UNKNOWN : result),\n",
    replace:
      '    ...(restored && result === NEVER_STARTED ? OUTCOME_UNKNOWN : result),\n    text: "interrupted",\n',
    tests: ["test/properties/recovery.test.ts"],
  },
  {
    law: 6,
    what: "the next request ignores the correction",
    file: "src/runtime/fold/fold.ts",
    find: "      this.#overrides.push(event);\n",
    replace: "      this.#overrides = [];\n",
    tests: ["test/laws/law-6-every-log-can-go-on.test.ts", conversations],
  },
  {
    law: 7,
    what: "the reason for a failed response is not recorded",
    file: "src/runtime/turn/record.ts",
    find: "    const { status, ...facts } = end;",
    replace: "    const { status, error: _error, ...facts } = end;",
    tests: ["test/laws/law-7-failures-are-events.test.ts"],
  },
  {
    law: 7,
    what: "a tool that throws counts as successful, with an empty result",
    file: "src/runtime/turn/call-outcome.ts",
    find: 'return told("error", failure(call.name, messageOf(settled.error)));',
    replace: 'return told("ok", "");',
    tests: ["test/laws/law-7-failures-are-events.test.ts"],
  },
  {
    law: 7,
    what: "a connection error after the answer has no handler",
    file: "src/runtime/wire/via-node.ts",
    find: "    keepQuiet(socket);\n    if (replaced",
    replace: "    if (replaced",
    tests: ["src/runtime/wire/exchange.test.ts"],
  },
  {
    law: 8,
    what: "items of an unknown type are dropped",
    file: "src/runtime/providers/openai-responses/stream.ts",
    find: 'if (draft.type === "other_item") this.#unknown.add(`item ${draft.itemType}`);',
    replace: 'if (draft.type === "other_item") return;',
    tests: ["test/laws/law-8-unknown-is-kept.test.ts"],
  },
  {
    law: 8,
    what: "unknown wire events end the response",
    file: "src/runtime/providers/openai-responses/stream.ts",
    find: "    if (this.#ended || !RESPONSES_EVENTS.has(type)) {",
    replace:
      '    if (!RESPONSES_EVENTS.has(type)) this.#fail("unknown event", events);\n    if (this.#ended || !RESPONSES_EVENTS.has(type)) {',
    tests: ["test/laws/law-8-unknown-is-kept.test.ts"],
  },
  {
    law: 8,
    what: "unknown wire events are not counted",
    file: "src/runtime/providers/unknown-counts.ts",
    find: "(this.#counts.get(what) ?? 0) + 1",
    replace: "1",
    tests: ["test/laws/law-8-unknown-is-kept.test.ts"],
  },
  {
    law: 8,
    what: "an event of a later version is rewritten",
    file: "src/base/events/line.ts",
    find: 'if (event.type === "unknown") return event.raw.slice(0, event.raw.lastIndexOf("}"));',
    replace: 'if (event.type === "unknown") return JSON.stringify(JSON.parse(event.raw)).slice(0, -1);',
    tests: ["test/laws/law-8-unknown-is-kept.test.ts"],
  },
  {
    law: 9,
    what: "the spinner keeps turning after the writer has died",
    file: "src/interface/fragments/response-blocks.ts",
    find: "const generating = writerAlive && ((this.#open && !item.done) || item.running);",
    replace: "const generating = (this.#open && !item.done) || item.running;",
    tests: ["test/laws/law-9-generating-is-not-expanded.test.ts"],
  },
  {
    law: 9,
    what: "an ended response stays open",
    file: "src/interface/fragments/response-blocks.ts",
    find: "    this.#open = false;\n    this.#ended = status;",
    replace: "    this.#ended = status;",
    tests: ["test/laws/law-9-generating-is-not-expanded.test.ts"],
  },
  {
    law: 9,
    what: "a block decides itself that it is unfolded",
    file: "src/interface/fragments/response-blocks.ts",
    find: "    return { id: key, generating, superseded: this.#replacedBy !== undefined };",
    replace:
      "    return { id: key, generating, superseded: this.#replacedBy !== undefined, expanded: generating } as never;",
    tests: ["test/laws/law-9-generating-is-not-expanded.test.ts"],
  },
  {
    law: 10,
    what: "the emulator needs a key",
    file: "src/runtime/models/emulator.ts",
    find: '    apiKey: "throughline-built-in-emulator-key",',
    replace: '    apiKey: process.env["OPENAI_API_KEY"] ?? "",',
    tests: ["test/laws/law-10-no-key-no-network.test.ts"],
  },
  {
    law: 10,
    what: "the emulator does not say that it is one",
    file: "src/emulator/http-server.ts",
    find: '    "x-emulator": "throughline",\n',
    replace: "",
    tests: ["test/laws/law-10-no-key-no-network.test.ts"],
  },
];
