/**
 * The mistakes that systems like this one really have had, one entry each, and the tests that must turn red.
 * Those of a store on a database (`epoch = $e`, `next_seq = $s`, sending again on a time-out) come with that store.
 *
 * @type {readonly import("../planting.mjs").Planted[]}
 */

const bytes = "test/exhaustive/log-bytes.test.ts";
const streams = "test/exhaustive/streams.test.ts";

export const bugs = [
  {
    what: "the log is never synced",
    file: "src/runtime/log/file-log.ts",
    find: "      await this.#options.io.sync(file);\n",
    replace: "",
    tests: ["src/runtime/log/file-faults.test.ts"],
  },
  {
    what: "an append is acknowledged before it is written",
    file: "src/runtime/log/file-log.ts",
    find: "    this.#write(bytes);",
    replace: "    setImmediate(() => this.#write(bytes));",
    tests: ["src/runtime/log/file-faults.test.ts"],
  },
  {
    what: "the writer does not refuse a log past its limit",
    file: "src/runtime/log/file-log.ts",
    find: "    this.#limit.assertRoom(this.#size + bytes.length, drafts);\n",
    replace: "",
    tests: ["src/runtime/log/log-size.test.ts"],
  },
  {
    what: "no checksum is compared",
    file: "src/runtime/log/line-framing.ts",
    find: "if (sumAt(bytes, openEnd) !== crc32(bytes.subarray(start, openEnd))) return undefined;",
    replace: "if (sumAt(bytes, openEnd) === -1) return undefined;",
    tests: [bytes, "src/runtime/log/line-framing.test.ts"],
  },
  {
    what: "a bad line is skipped in silence",
    file: "src/runtime/log/line-framing.ts",
    find: '    throw damagedLog(damage, options.session ?? "FILE");',
    replace: "    at = end + 1;",
    tests: [bytes, "src/runtime/log/line-framing.test.ts"],
  },
  {
    what: "a torn tail is appended to",
    file: "src/runtime/log/file-log.ts",
    find: "        if (writing && bytes.length > this.#size) this.#saveTornTail(file, bytes.subarray(this.#size));\n        else if (bytes.length > this.#size) return;",
    replace: "        this.#size = bytes.length;",
    tests: [bytes, "src/runtime/log/file-log.test.ts"],
  },
  {
    what: "a failed sync is tried again",
    file: "src/runtime/log/file-log.ts",
    find: "      await this.#options.io.sync(file);",
    replace: "      await this.#options.io.sync(file).catch(() => this.#options.io.sync(file));",
    tests: ["src/runtime/log/file-faults.test.ts"],
  },
  {
    what: "a response needs no end to count (no commit mark)",
    file: "src/runtime/fold/guard.ts",
    find: '  if (group.end === undefined)\n    return { omit: true, reason: "response_open", why: "the response never ended" };\n',
    replace: "",
    tests: ["test/laws/law-3-only-completed.test.ts"],
  },
  {
    what: "the lock is a file that a killed holder leaves behind",
    file: "src/runtime/log/writer-lock.ts",
    find: '  return process.platform === "linux" ? lockBySocket(lockOf(log)) : lockByOpening(lockOf(log));',
    replace: `  const fs = await import("node:fs");
  try {
    fs.writeFileSync(\`\${log}.pid\`, String(process.pid), { flag: "wx" });
  } catch {
    return { held: false, holder: "another process" };
  }
  return { held: true, release: async () => fs.rmSync(\`\${log}.pid\`, { force: true }) };`,
    tests: ["src/runtime/log/writer-lock.test.ts"],
  },
  {
    what: "a claimant does not look for other holders of the lock",
    file: "src/runtime/log/socket-lock.ts",
    find: "      if (rivals.length === 0) {",
    replace: "      if (rivals.length >= 0) {",
    tests: ["src/runtime/log/writer-lock.test.ts"],
  },
  {
    what: "an append goes into a log that is no longer in its place",
    file: "src/runtime/log/file-log.ts",
    find: "      );\n    this.#assertInPlace(file);\n",
    replace: "      );\n",
    tests: ["src/runtime/log/file-faults.test.ts"],
  },
  {
    what: "a writer does not look whether another one wrote (no fence)",
    file: "src/runtime/log/file-log.ts",
    find: "    if (size !== this.#size)\n",
    replace: "    if (size < 0)\n",
    tests: ["src/runtime/log/file-faults.test.ts", "test/exhaustive/writers.test.ts"],
  },
  {
    what: "lines of a writer that was overtaken are read as if nothing were wrong",
    file: "src/runtime/log/line-framing.ts",
    find: "    if (line.ok && line.event.seq === seq && line.event.epoch >= epoch) {",
    replace: "    if (line.ok && line.event.seq === seq) {",
    tests: ["src/runtime/log/line-framing.test.ts"],
  },
  {
    what: "a tool runs before its start is in the log",
    file: "src/runtime/turn/run-calls.ts",
    find: "  await context.live.append(drafts, { durable: true });",
    replace: "  setTimeout(() => void context.live.append(drafts, { durable: true }), 20);",
    tests: ["test/laws/law-5-log-before-act.test.ts", "test/exhaustive/tool-kills.test.ts"],
  },
  {
    what: "lines of a stream end with LF only",
    file: "src/runtime/wire/sse.ts",
    find: '    let nextCr = text.indexOf("\\r", at);',
    replace: "    let nextCr = -1;",
    tests: [streams, "src/runtime/wire/sse.test.ts"],
  },
  {
    what: "each chunk is decoded as UTF-8 by itself",
    file: "src/runtime/wire/sse.ts",
    find: "this.#decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));",
    replace: 'Buffer.from(chunk).toString("utf8");',
    tests: [streams, "src/runtime/wire/sse.test.ts"],
  },
  {
    what: "a line has no limit",
    file: "src/runtime/wire/sse.ts",
    find: '    if (this.#pieceBytes > this.#limits.maxLineBytes) throw tooLong("a line", this.#limits.maxLineBytes);\n',
    replace: "",
    tests: ["src/runtime/wire/sse.test.ts", "test/exhaustive/hostile-streams.test.ts"],
  },
  {
    what: "the end of the bytes is the end of the answer",
    file: "src/runtime/providers/anthropic-messages/stream.ts",
    find: 'return [this.#end({ status: "cut", error: { code: "stream_cut", message, class: "TRUNC" } })];',
    replace: 'return [this.#end({ status: message === "" ? "cut" : "completed" })];',
    tests: [streams],
  },
  {
    what: "a message that never said why it stopped is complete",
    file: "src/runtime/providers/anthropic-messages/stream.ts",
    find: "    if (this.#stop === undefined) {",
    replace: '    this.#stop ??= { reason: "end_turn", details: {} };\n    if (this.#stop === undefined) {',
    tests: [streams],
  },
  {
    what: "thoughts go to another model",
    file: "src/runtime/fold/guard.ts",
    find: "  if (!isHome(group.origin, settings)) {",
    replace: "  if (group.origin.dialect !== settings.target.dialect) {",
    tests: ["test/laws/law-1-verbatim-at-home.test.ts", "test/exhaustive/prefix-requests.test.ts"],
  },
  {
    what: "a thought that nothing follows is sent",
    file: "src/runtime/fold/omissions.ts",
    find: 'else if (item.action !== "omit" && follower?.action !== "replay")',
    replace: 'else if (item.action !== "omit" && follower?.action === "omit")',
    tests: ["src/runtime/fold/guard.test.ts"],
  },
  {
    what: "two user messages in a row go where they must alternate",
    file: "src/runtime/providers/openai-chat/render-messages.ts",
    find: ' || (follows("user") && userAfterUser === false)',
    replace: "",
    tests: ["test/exhaustive/prefix-requests.test.ts"],
  },
  {
    what: "a Host that only begins like ours is let in",
    file: "src/access/server/gate.ts",
    find: "hosts.has(host.toLowerCase())",
    replace: '[...hosts].some((one) => host.toLowerCase().startsWith(one.split(":")[0] ?? one))',
    tests: ["test/server/gate.test.ts"],
  },
  {
    what: "the token is compared with ===",
    file: "src/access/server/access-keys.ts",
    find: "    return timingSafeEqual(this.#token, digest(given));",
    replace: "    return given === this.token;",
    tests: ["test/server/constant-time.test.ts"],
  },
  {
    what: "a model's text is HTML of the page",
    file: "src/interface/web/markdown.ts",
    find: "  return purifier.sanitize(html, {",
    replace: "  if (html.length >= 0) return html;\n  return purifier.sanitize(html, {",
    tests: ["test/browser/untrusted-text.test.ts"],
  },
  {
    what: "of the sequences of a terminal only CSI is taken out",
    file: "src/base/support/inert-text.ts",
    find: '  return inertFrom(text.replaceAll("\\r\\n", "\\n"), 0);',
    replace: '  return text.replaceAll(/\\u001B\\[[0-9;]*[A-Za-z]/g, "");',
    tests: ["src/base/support/inert-text.test.ts"],
  },
  {
    what: "the gate before a terminal lets bytes pass as they are",
    file: "src/interface/cli/terminal-gate.ts",
    find: "    const safe = inertFrom(all, before.length);",
    replace: "    const safe = all.slice(before.length);",
    tests: ["test/cli/terminal-inert.test.ts"],
  },
  {
    what: "a base URL may hold a query",
    file: "src/base/support/addresses.ts",
    find: '  if (url.search !== "" || text.includes("?")) return "holds a query (the part from ? on)";',
    replace: "",
    tests: ["src/base/support/addresses.test.ts"],
  },
  {
    what: "a trace leaves out the headers somebody thought of",
    file: "src/diagnostics/trace/public-headers.ts",
    find: "  return only(headers, (name) => REQUEST.has(name));",
    replace: '  return only(headers, (name) => !["authorization", "cookie"].includes(name));',
    tests: ["src/diagnostics/trace/public-headers.test.ts"],
  },
  {
    what: "parsed JSON is copied with Object.assign",
    file: "src/access/server/read-body.ts",
    find: "    this.#value = value;",
    replace: "    this.#value = Object.assign({}, value);",
    tests: ["test/server/bad-requests.test.ts"],
  },
  {
    what: "trust ignores the content of an imported file",
    file: "src/interface/config/file-closure.ts",
    find: '    this.#keep(place.path, hashOf(bytes), { type: "file", bytes });',
    replace:
      '    this.#keep(place.path, this.#files.size === 0 ? hashOf(bytes) : "", { type: "file", bytes });',
    tests: ["src/interface/config/load-config.test.ts"],
  },
  {
    what: "an answer that switches protocols goes unnoticed",
    file: "src/runtime/wire/via-node.ts",
    find: '  outgoing.on("upgrade", switched);\n',
    replace: "",
    tests: ["src/runtime/wire/exchange.test.ts"],
  },
  {
    what: "a request that closes without an answer settles nothing",
    file: "src/runtime/wire/via-node.ts",
    find: '    exchange.fail(new Error("it was closed before an answer came"));\n',
    replace: "",
    tests: ["src/runtime/wire/exchange.test.ts"],
  },
  {
    what: "a request without a valid key counts as owed an answer",
    file: "src/access/server/connections.ts",
    find: "    if (asked > this.#limits.pipelined) socket.destroy();\n",
    replace:
      "    if (asked > this.#limits.pipelined) socket.destroy();\n    this.admit({ socket }, response);\n",
    tests: ["test/server/strangers.test.ts"],
  },
  {
    what: "a hint is lost while a read is under way",
    file: "src/runtime/log/changes.ts",
    find: "      await bell.rung();",
    replace: "      bell.hush();\n      await bell.rung();",
    tests: ["src/runtime/log/changes.test.ts"],
  },
  {
    what: "rows of the scratch journal are read after the log",
    file: "src/runtime/log/changes.ts",
    find: "      const { rows, more } = source.rows();\n      await source.refresh();",
    replace: "      await source.refresh();\n      const { rows, more } = source.rows();",
    tests: ["src/runtime/log/changes.test.ts"],
  },
  {
    what: "a scratch journal that was made anew is read on from the old place",
    file: "src/runtime/log/scratch-reader.ts",
    find: "    if (id !== this.#file || size < this.#at || !sameStart(head, this.#head)) this.#at = 0;",
    replace: "    if (size < this.#at) this.#at = 0;",
    tests: ["src/runtime/log/scratch-reader.test.ts"],
  },
  {
    what: "a killed writer is never asked for again",
    file: "src/runtime/log/folder-watcher.ts",
    find: "      this.#askSome();\n",
    replace: "",
    tests: ["src/runtime/log/folder-watcher.test.ts"],
  },
  {
    what: "a summary is believed although the log has changed",
    file: "src/runtime/log/summary-line.ts",
    find: '  if (read["size"] !== marks.size || read["mtime"] !== marks.mtime || read["inode"] !== marks.inode)\n    return undefined;\n',
    replace: "  void marks;\n",
    tests: ["src/runtime/log/summary-file.test.ts", "test/contracts/log-contract.test.ts"],
  },
  {
    what: "a summary of another session is taken",
    file: "src/runtime/log/summary-line.ts",
    find: ' || read["session"] !== session',
    replace: "",
    tests: ["src/runtime/log/summary-file.test.ts"],
  },
];
