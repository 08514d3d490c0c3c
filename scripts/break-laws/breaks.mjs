/**
 * One entry per way to break a law: a search and its replacement in one file, and the tests that must turn red.
 * `find` must stand in the file exactly once: a break that no longer fits is an error, not a pass.
 *
 * @typedef {{law: number, what: string, file: string, find: string, replace: string, tests: string[]}} Break
 */

const conversations = "test/properties/conversations.test.ts";
const prefixes = "test/properties/every-prefix.test.ts";

/** @type {readonly {law: number, title: string, waits?: string}[]} */
export const laws = [
  { law: 1, title: "Verbatim at home, translated abroad" },
  { law: 2, title: "All item ids of a group or none" },
  { law: 3, title: "Only a completed response is replayed whole" },
  { law: 4, title: "Same prefix, same bytes" },
  { law: 5, title: "Log before act" },
  { law: 6, title: "Every reachable log can go on" },
  { law: 7, title: "Failures are events" },
  { law: 8, title: "Unknown is kept" },
  {
    law: 9,
    title: "Generating is not expanded",
    waits: "for fragments and blocks, which are another issue: there is no code yet that could break it",
  },
  { law: 10, title: "No key, no network: everything works" },
];

/** @type {readonly Break[]} */
export const breaks = [
  {
    law: 1,
    what: "fields are parsed and written anew when they are sent",
    file: "src/providers/openai-responses/render-items.ts",
    find: '      : `"${key}":${value}`,',
    replace: '      : `"${key}":${JSON.stringify(JSON.parse(value))}`,',
    tests: ["test/laws/law-1-verbatim-at-home.test.ts"],
  },
  {
    law: 1,
    what: "items are parsed and written anew when the log is read",
    file: "src/events/line.ts",
    find: 'item: sliceMember(line, "item") }',
    replace: "item: JSON.stringify(JSON.parse(line).item) }",
    tests: ["test/laws/law-1-verbatim-at-home.test.ts", "test/laws/law-8-unknown-is-kept.test.ts"],
  },
  {
    law: 1,
    what: "payloads cross to another model and account",
    file: "src/fold/guard.ts",
    find: "  if (!sameOrigin(group.origin, context.settings.target)) {",
    replace: "  if (group.origin.dialect !== context.settings.target.dialect) {",
    tests: ["test/laws/law-1-verbatim-at-home.test.ts", conversations, prefixes],
  },
  {
    law: 1,
    what: "the payload of the terminal event always takes the place of the item's own",
    file: "src/providers/openai-responses/stream.ts",
    find: 'if (item.done?.type === "reasoning" && !item.done.opaque && hasPayload(text)) {',
    replace: 'if (item.done?.type === "reasoning" && hasPayload(text)) {',
    tests: [conversations],
  },
  {
    law: 2,
    what: "ids stay when the reasoning goes",
    file: "src/fold/guard.ts",
    find: "    ),\n    withIds: false,\n  };",
    replace: "    ),\n    withIds: true,\n  };",
    tests: ["test/laws/law-2-ids-all-or-none.test.ts", conversations],
  },
  {
    law: 2,
    what: "ids go, the reasoning stays, at an endpoint that wants ids",
    file: "src/providers/openai-responses/render-items.ts",
    find: '    if (key === "id") return entry.withIds;',
    replace: '    if (key === "id") return entry.withIds && itemType === "reasoning";',
    tests: ["test/laws/law-2-ids-all-or-none.test.ts", conversations],
  },
  {
    law: 2,
    what: "an id that is too long is shortened instead",
    file: "src/providers/openai-responses/understand.ts",
    find: '...(id === undefined || id === "" ? {} : { itemId: id }),',
    replace: '...(id === undefined || id === "" ? {} : { itemId: id.slice(0, 64) }),',
    tests: ["test/laws/law-2-ids-all-or-none.test.ts"],
  },
  {
    law: 3,
    what: "what a cut stream left is sent",
    file: "src/fold/guard.ts",
    find: '  cut: { omit: true, reason: "response_cut", why: "the stream was cut" },',
    replace: "  cut: undefined,",
    tests: ["test/laws/law-3-only-completed.test.ts"],
  },
  {
    law: 3,
    what: "an incomplete response is replayed whole",
    file: "src/fold/guard.ts",
    find: '  incomplete: { omit: false, reason: "response_incomplete", why: "the response is incomplete" },',
    replace: "  incomplete: undefined,",
    tests: ["test/laws/law-3-only-completed.test.ts"],
  },
  {
    law: 3,
    what: "a stream that ends without a terminal event counts as completed",
    file: "src/providers/openai-responses/stream.ts",
    find: 'status: this.#error === undefined ? "cut" : "failed", error',
    replace: 'status: this.#error === undefined ? "completed" : "failed", error',
    tests: ["test/laws/law-3-only-completed.test.ts"],
  },
  {
    law: 4,
    what: "a message carries the time at which it is rendered",
    file: "src/providers/openai-responses/render-items.ts",
    find: 'if (part.type === "text") return { type: "input_text", text: part.text };',
    replace:
      'if (part.type === "text") return { type: "input_text", text: `${part.text} (${process.hrtime.bigint()})` };',
    tests: ["test/laws/law-4-same-prefix-same-bytes.test.ts", conversations],
  },
  {
    law: 4,
    what: "bytes that were rendered before a correction are used after it",
    file: "src/providers/openai-responses/request.ts",
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
    file: "src/fold/fold.ts",
    find: "  const { callId } = item.event;\n",
    replace:
      '  const { callId } = item.event;\n  if (item.action === "translate") return { ...item, callId: `call_${Math.random()}`.slice(0, 30) };\n',
    tests: ["test/laws/law-4-same-prefix-same-bytes.test.ts", "test/properties/incremental.test.ts"],
  },
  {
    law: 5,
    what: "a tool runs before its start is durable",
    file: "src/turn/run-calls.ts",
    find: "  await context.append(drafts, { durable: true });",
    replace: "  await context.append(drafts);",
    tests: ["test/laws/law-5-log-before-act.test.ts"],
  },
  {
    law: 5,
    what: "a request goes out before its start is durable",
    file: "src/turn/step.ts",
    find: "  await context.append([{ ...start, ...leftOut(context, rendered) }], { durable: true });",
    replace: "  await context.append([{ ...start, ...leftOut(context, rendered) }]);",
    tests: ["test/laws/law-5-log-before-act.test.ts"],
  },
  {
    law: 5,
    what: "a call that had begun is run again after a crash",
    file: "src/session/resume.ts",
    find: "      !group.wasStarted(call.callId) ||",
    replace: "      group.start.seq >= 0 ||",
    tests: ["test/laws/law-5-log-before-act.test.ts"],
  },
  {
    law: 5,
    what: "every event is synced by itself (the count of syncs is a promise too)",
    file: "src/session/journal.ts",
    find: "    if (options.durable === true) await this.log.sync();",
    replace: "    if (options.durable !== undefined || drafts.length > 0) await this.log.sync();",
    tests: ["test/laws/law-5-log-before-act.test.ts"],
  },
  {
    law: 6,
    what: "a call without a result is sent without one",
    file: "src/fold/fold.ts",
    find: "    const result = group.resultOf(call.callId);\n",
    replace: "    const result = group.resultOf(call.callId);\n    if (result === undefined) return [];\n",
    tests: [prefixes],
  },
  {
    law: 6,
    what: "a refusal is not healed",
    file: "src/turn/heal.ts",
    find: "  if (rung > MAX_RUNGS) return undefined;",
    replace: "  if (rung >= 0) return undefined;",
    tests: ["test/laws/law-6-every-log-can-go-on.test.ts", conversations],
  },
  {
    law: 6,
    what: "recovery records another text than the fold has sent",
    file: "src/turn/recover.ts",
    find: "    ...openEndOf(group, call),\n",
    replace: '    ...openEndOf(group, call),\n    text: "interrupted",\n',
    tests: ["test/properties/recovery.test.ts"],
  },
  {
    law: 6,
    what: "the correction is forgotten with the next request",
    file: "src/fold/fold.ts",
    find: "        this.#overrides.push(event);\n",
    replace: "        this.#overrides = [];\n",
    tests: ["test/laws/law-6-every-log-can-go-on.test.ts", conversations],
  },
  {
    law: 7,
    what: "why a response failed is not recorded",
    file: "src/turn/record.ts",
    find: "    const { status, ...facts } = end;",
    replace: "    const { status, error: _error, ...facts } = end;",
    tests: ["test/laws/law-7-failures-are-events.test.ts"],
  },
  {
    law: 7,
    what: "a tool that throws has succeeded with nothing",
    file: "src/turn/run-calls.ts",
    find: '      return { status: "error", value: `the tool "${call.name}" failed: ${messageOf(outcome.error)}` };',
    replace: '      return { status: "ok", value: "" };',
    tests: ["test/laws/law-7-failures-are-events.test.ts"],
  },
  {
    law: 7,
    what: "a cancel at the wrong moment is an error nobody listens for",
    file: "src/wire/http.ts",
    find: "    const abort = (): void => void outgoing.destroy();",
    replace: '    const abort = (): void => void outgoing.destroy(new Error("aborted"));',
    tests: ["test/properties/cancelled-answer.test.ts"],
  },
  {
    law: 8,
    what: "items of an unknown type are dropped",
    file: "src/providers/openai-responses/stream.ts",
    find: 'if (draft.type === "other_item") this.#count(`item ${draft.itemType}`);',
    replace: 'if (draft.type === "other_item") return;',
    tests: ["test/laws/law-8-unknown-is-kept.test.ts"],
  },
  {
    law: 8,
    what: "unknown wire events end the response",
    file: "src/providers/openai-responses/stream.ts",
    find: "    if (this.#ended || !RESPONSES_EVENTS.has(type)) {",
    replace:
      '    if (!RESPONSES_EVENTS.has(type)) this.#fail("unknown event", events);\n    if (this.#ended || !RESPONSES_EVENTS.has(type)) {',
    tests: ["test/laws/law-8-unknown-is-kept.test.ts", conversations],
  },
  {
    law: 8,
    what: "unknown wire events are not counted",
    file: "src/providers/openai-responses/stream.ts",
    find: "    this.#unknown[what] = (this.#unknown[what] ?? 0) + 1;",
    replace: "    this.#unknown[what] = 1;",
    tests: ["test/laws/law-8-unknown-is-kept.test.ts"],
  },
  {
    law: 8,
    what: "an event of a later version is written anew",
    file: "src/events/line.ts",
    find: 'if (event.type === "unknown") return event.raw.slice(0, event.raw.lastIndexOf("}"));',
    replace: 'if (event.type === "unknown") return JSON.stringify(JSON.parse(event.raw)).slice(0, -1);',
    tests: ["test/laws/law-8-unknown-is-kept.test.ts"],
  },
  {
    law: 10,
    what: "the emulator needs a key",
    file: "src/models/emulator.ts",
    find: '    apiKey: "emulator",',
    replace: '    apiKey: process.env["OPENAI_API_KEY"] ?? "",',
    tests: ["test/laws/law-10-no-key-no-network.test.ts"],
  },
  {
    law: 10,
    what: "the emulator does not say what it is",
    file: "src/emulator/http-server.ts",
    find: '    "x-emulator": "throughline",\n',
    replace: "",
    tests: ["test/laws/law-10-no-key-no-network.test.ts"],
  },
];
