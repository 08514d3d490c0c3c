/** The sessions of the server, newest first, with a search over their titles. */

import { useEffect, useState } from "preact/hooks";

import type { RemoteAgent, SessionListing } from "../../../access/client/index.ts";
import { messageOf } from "../../../base/support/index.ts";
import { compact, dollars } from "../numbers.ts";
import { Problem } from "./problem.tsx";

interface Props {
  readonly agent: RemoteAgent;
  readonly version: number;
  readonly current: string | undefined;
  readonly onOpen: (id: string) => void;
  readonly onNew: () => void;
}

export function SessionList({ agent, version, current, onOpen, onNew }: Props) {
  const [search, setSearch] = useState("");
  const [found, setFound] = useState<readonly SessionListing[]>([]);
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    let stale = false;
    const options = search.trim() === "" ? { limit: 100 } : { limit: 100, search: search.trim() };
    const load = async (): Promise<void> => {
      try {
        const sessions = await agent.list(options);
        if (stale) return;
        setFound(sessions);
        setProblem(undefined);
      } catch (error) {
        if (!stale) setProblem(messageOf(error));
      }
    };
    void load();
    return () => {
      stale = true;
    };
  }, [agent, search, version]);
  return (
    <aside class="sessions-pane" aria-label="Sessions">
      <div class="sessions-head">
        <h2>Sessions</h2>
        <button type="button" onClick={onNew}>
          New
        </button>
      </div>
      <input
        type="search"
        aria-label="Search sessions"
        placeholder="Search"
        value={search}
        onInput={(event) => setSearch(event.currentTarget.value)}
      />
      <Problem text={problem} />
      <ul>
        {found.map((session) => (
          <li key={session.id}>
            <button
              type="button"
              class="session"
              aria-current={session.id === current ? "page" : undefined}
              onClick={() => onOpen(session.id)}
            >
              <span class="session-title">{session.title ?? session.id}</span>
              <span class="session-facts">{session.problem ?? factsOf(session)}</span>
            </button>
          </li>
        ))}
      </ul>
      {found.length === 0 && problem === undefined ? (
        <p class="empty">{search.trim() === "" ? "No sessions yet." : "Nothing found."}</p>
      ) : null}
    </aside>
  );
}

function factsOf({ modifiedAt, usage, costUsd, model, subAgentOf }: SessionListing): string {
  const when = new Date(modifiedAt).toLocaleDateString(undefined, { month: "short", day: "numeric" });
  const tokens =
    usage === undefined || usage.inputTokens === 0
      ? undefined
      : `${compact(usage.inputTokens + usage.outputTokens)} tokens`;
  const caller = subAgentOf === undefined ? undefined : `sub-agent of ${subAgentOf}`;
  return [when, model, tokens, dollars(costUsd), caller].filter((part) => part !== undefined).join(" · ");
}
