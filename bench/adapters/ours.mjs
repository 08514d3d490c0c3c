/**
 * The built Throughline, through its public interface: createAgent, openai, a store, session.send and its events.
 *
 * @module
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";

import { toolOutput } from "../load/scenarios.mjs";
import { agentFor, forSession } from "../load/session-log.mjs";
import { captureFetch } from "./capture-fetch.mjs";

export async function createClient({ dist, store: kind, folder, drafts }) {
  const counts = kind === "file" ? countSyncs() : undefined;
  const library = await import(dist);
  const store = kind === "file" ? library.fileStore(folder) : library.memoryStore();
  const agents = new Map();
  const agentAt = (url) => {
    let agent = agents.get(url);
    if (agent === undefined) agents.set(url, (agent = agentFor(library, { url })));
    return agent;
  };
  let before;
  let sessions = 0;
  const ask = async (url, seen) => {
    const session = await agentAt(url).open({ store });
    await follow(session.send("Begin."), seen);
    return () => session.close();
  };
  return {
    ask,
    async prepare(url) {
      const session = await agentAt(url).open({ store });
      return (seen) => follow(session.send("Begin."), seen);
    },
    async loop(url, seen, count, mark, fetch) {
      const outputs = Array.from({ length: count }, (_, step) => toolOutput(step));
      let step = 0;
      const run = () => {
        mark();
        return outputs[step++];
      };
      const more = fetch === undefined ? {} : { fetch };
      const agent = agentFor(library, { url, steps: count + 1, run, ...more });
      const session = await agent.open({ store, id: `loop-${(sessions += 1)}` });
      await follow(session.send("Begin."), seen);
      return () => session.close();
    },
    /** The history was drafted in another process. Here it is only appended, through the contract of the log. */
    async builder() {
      const id = `history-${(sessions += 1)}`;
      const log = await store.open(id, { mode: "write" });
      for (const line of fs.readFileSync(drafts, "utf8").split("\n"))
        await log.append(forSession(id, JSON.parse(line)));
      await log.close();
      const { fetch, sent } = captureFetch();
      const agent = agentFor(library, { fetch, trace: whenSent(sent) });
      let session;
      const build = async (_turn, stop) => {
        sent.stop = stop;
        session ??= await agent.open({ store, id });
        await session.send("Go on.").result();
        return sent.body;
      };
      return { build, end: () => session?.close() };
    },
    async openFile(file, send, stop) {
      const { fetch, sent } = captureFetch();
      sent.stop = stop;
      const id = /([^/]+)\.jsonl$/.exec(file)[1];
      const session = await agentFor(library, { fetch, trace: whenSent(sent) }).open({
        store: library.fileStore(join(file, "..")),
        id,
      });
      // Reads the fold's result, in case it is computed lazily.
      const events = session.lastSeq + 1;
      if (session.interrupted || session.usage.inputTokens === 0 || session.context === undefined)
        throw new Error("the session was not read");
      if (!send) stop();
      else await session.send("Go on.").result();
      return { events, body: sent.body, end: () => session.close() };
    },
    async list(sessionsFolder, search) {
      let listed = 0;
      for await (const { problem } of library.fileStore(sessionsFolder).list({ search })) {
        if (problem !== undefined) throw new Error(problem);
        listed += 1;
      }
      return listed;
    },
    begin() {
      before = writtenIn(folder, counts);
    },
    written() {
      if (counts === undefined) return {};
      const { syncs, logBytes } = writtenIn(folder, counts);
      return { syncs: syncs - before.syncs, logBytes: logBytes - before.logBytes };
    },
  };
}

/**
 * Stops the clock when the bytes go to the transport. An injected fetch gets them a moment later, because its body, and only
 * its body, is joined into one.
 */
function whenSent(sent) {
  return ({ type }) => {
    if (type === "request") sent.stop();
  };
}

async function follow(turn, seen) {
  const thoughts = [];
  for await (const event of turn) {
    switch (event.type) {
      case "text_delta":
        seen.text += event.delta.length;
        seen.onText?.(event.delta);
        break;
      case "reasoning_delta":
        seen.reasoning += event.delta.length;
        break;
      case "tool_call_delta":
        seen.arguments += event.delta.length;
        break;
      case "tool_call":
        seen.calls += 1;
        break;
      case "reasoning":
        thoughts.push(event);
        break;
    }
  }
  const { status, reason, error } = await turn.result();
  if (status !== "completed" && reason !== "max_steps")
    throw new Error(`the turn ended ${status}: ${reason ?? error?.message}`);
  seen.ciphertexts = () => thoughts.map(({ item }) => JSON.parse(item).encrypted_content);
}

/** The bytes and syncs so far. */
function writtenIn(folder, counts) {
  const logs = fs.readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
  const sizes = logs.map((name) => fs.statSync(join(folder, name)).size);
  return { syncs: counts?.syncs, logBytes: sizes.reduce((sum, size) => sum + size, 0) };
}

/** Counts Node's own calls and is installed before the library is loaded, so that the library needs no hook. */
function countSyncs() {
  const counts = { syncs: 0 };
  for (const name of ["fdatasync", "fsync", "fdatasyncSync", "fsyncSync"]) {
    const real = fs[name];
    fs[name] = (...rest) => {
      counts.syncs += 1;
      return real(...rest);
    };
  }
  syncBuiltinESMExports();
  return counts;
}
