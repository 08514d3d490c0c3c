/** `createAgent`: a model, tools and a policy, from which sessions are opened. */

import type { SessionSummary } from "../../base/api/index.ts";
import type { SessionParent } from "../../base/events/index.ts";
import { aText, checkArgument, checkOptions, createIdSource, systemClock } from "../../base/support/index.ts";
import { type Log, memoryStore, type Store } from "../log/index.ts";
import {
  createRegistry,
  deniedByDefaultAdvice,
  isAccessByDefault,
  TOOL_DENIED_BY_DEFAULT,
} from "../tools/index.ts";
import { LiveLog } from "../turn/index.ts";
import { optionsOfSub, rememberInside } from "./agent-inside.ts";
import { assertAgentOptions } from "./agent-options.ts";
import { describeSession } from "./describe-session.ts";
import { openShared } from "./live-sessions.ts";
import { OPEN_SESSION_OPTIONS } from "./option-checks.ts";
import { agentRule } from "./session-rules.ts";
import { ownTools } from "./session-tools.ts";
import { LocalSession } from "./session.ts";
import type { Agent, AgentOptions, OpenSessionOptions, Session } from "./types.ts";

/**
 * Creates an agent: a model with tools, permissions and limits. Throws `options_invalid` for wrong options.
 *
 * @example
 * ```ts
 * import { createAgent, emulator } from "throughline";
 *
 * const agent = createAgent({ model: emulator(), system: "Answer in one sentence." });
 * const session = await agent.open();
 * const result = await session.send("Hello").result();
 * if (result.status === "completed") console.log(result.text);
 * await session.close();
 * ```
 */
export function createAgent(options: AgentOptions): Agent {
  assertAgentOptions(options);
  warnOfDefaults(options);
  for (const rule of options.allow ?? []) agentRule(rule, options);
  createRegistry(ownTools(options)); // two tools of the same name are a programmer error, reported at once
  const clock = options.clock ?? systemClock;
  const ids = createIdSource(() => clock.now());
  let memory: Store | undefined;
  const storeOf = (store: Store | undefined): Store => store ?? (memory ??= memoryStore({ clock }));

  const openLog = async (
    openOptions: OpenSessionOptions & { readonly parent?: SessionParent | undefined },
    own: AgentOptions = options,
  ): Promise<{ readonly session: LocalSession; readonly log: Log }> => {
    const store = storeOf(openOptions.store);
    const id = openOptions.id ?? ids.next("s");
    const log = await store.open(id, { mode: openOptions.mode ?? "write" });
    try {
      const writerLives = log.mode === "write" || (await log.hasWriter());
      const session = new LocalSession({
        live: await LiveLog.open(log, writerLives),
        store,
        options: own,
        parent: openOptions.parent,
        open: (other) => open({ store, id: other }),
      });
      if (log.mode === "write") await session.closeRestored();
      return { session, log };
    } catch (error) {
      await log.close(); // nobody else would: the session would stay locked
      throw error;
    }
  };
  const owner = { options };
  const open = async (openOptions: OpenSessionOptions): Promise<Session> => {
    const { mode, id = ids.next("s") } = openOptions;
    const store = storeOf(openOptions.store);
    const openNow = async (): Promise<LocalSession> => (await openLog({ ...openOptions, id, store })).session;
    return mode === "read" ? openNow() : openShared(owner, store, id, openNow);
  };

  return rememberInside(
    {
      async open(openOptions = {}) {
        checkOptions("open", openOptions, OPEN_SESSION_OPTIONS);
        return open(openOptions);
      },
      async session(id, given = {}) {
        checkArgument("session", "id", id, aText);
        checkOptions("session", given, SESSION_OPTIONS);
        return open({ id, store: given.store });
      },
      sessions(store) {
        if (store !== undefined) checkArgument("sessions", "store", store, OPEN_SESSION_OPTIONS.store);
        return summaries(storeOf(store));
      },
    },
    {
      options,
      openSub: ({ maxCostUsd, ...given }) => openLog(given, optionsOfSub(options, maxCostUsd)),
    },
  );
}

const SESSION_OPTIONS = { store: OPEN_SESSION_OPTIONS.store };

let warned = false;

/** Once per process: the defaults of a new tool and a new agent together deny it, and only the model would learn why. */
function warnOfDefaults(options: AgentOptions): void {
  const denied =
    options.permissions === undefined ? ownTools(options).find((one) => isAccessByDefault(one)) : undefined;
  if (denied === undefined || warned) return;
  warned = true;
  process.emitWarning(`the tool "${denied.name}" will be denied by default: ${deniedByDefaultAdvice}`, {
    type: "ThroughlineWarning",
    code: TOOL_DENIED_BY_DEFAULT,
  });
}

async function* summaries(store: Store): AsyncGenerator<SessionSummary> {
  for await (const stored of store.list()) yield describeSession(stored);
}
