/** The sessions of the server, newest first, by day, with a search over their titles, ids and folders. */

import { useEffect, useRef, useState } from "preact/hooks";

import type { RemoteAgent, SessionListing } from "../../../access/client/index.ts";
import { IconButton } from "../look/icon-button.tsx";
import { BrandMark, Icon } from "../look/icons.tsx";
import { Problem } from "../look/problem.tsx";
import { compact, dollars } from "../numbers.ts";
import { isAway } from "../server-link.ts";
import { useAway } from "../use-away.ts";
import { type Problems, useProblem } from "../use-problem.ts";
import { ageOf, byDay } from "./ages.ts";

interface Props {
  readonly agent: RemoteAgent;
  readonly version: number;
  readonly current: string | undefined;
  readonly onOpen: (id: string) => void;
  readonly onNew: () => void;
  readonly onHide: () => void;
  readonly onHelp: () => void;
}

const PAGE = 100;
/** Other clients start and end turns, too. */
const LOOK_AGAIN_MS = 15_000;

export function SessionList({ agent, version, current, onOpen, onNew, onHide, onHelp }: Props) {
  const [search, setSearch] = useState("");
  const isGone = useAway() !== undefined;
  const { found, total, problem, more } = useSessions(agent, search.trim(), `${version} ${isGone}`);
  const left = total - found.length;
  return (
    <nav class="sessions-pane" aria-label="Sessions">
      <div class="brand">
        <BrandMark />
        Throughline
        <IconButton icon="sessions" name="Hide sessions" onClick={onHide} />
      </div>
      <div class="side-top">
        <button type="button" class="side-row" onClick={onNew}>
          <Icon name="plus" />
          New session
        </button>
        <label class="side-row search">
          <Icon name="search" />
          <input
            id="search-sessions"
            type="search"
            aria-label="Search sessions"
            placeholder="Search"
            value={search}
            onInput={(event) => setSearch(event.currentTarget.value)}
          />
          <kbd aria-hidden="true">/</kbd>
        </label>
      </div>
      <div
        class="sessions"
        // A region that scrolls must be reachable by keyboard.
        tabIndex={0}
        role="group"
        aria-label="Session list"
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          if (left > 0 && scrollHeight - scrollTop - clientHeight < 200) more();
        }}
      >
        <Problem problem={problem} />
        {byDay(found, Date.now()).map(([day, sessions]) => (
          <section key={day}>
            <h2>{day}</h2>
            <ul>
              {sessions.map((session) => (
                <li key={session.id}>
                  <SessionLink session={session} isCurrent={session.id === current} onOpen={onOpen} />
                </li>
              ))}
            </ul>
          </section>
        ))}
        {left > 0 ? (
          <button type="button" class="older-sessions" onClick={more}>
            Older sessions ({left})
          </button>
        ) : null}
        {found.length === 0 && problem === undefined ? (
          <p class="empty">{search.trim() === "" ? "No sessions yet" : "Nothing found."}</p>
        ) : null}
      </div>
      <div class="side-foot">
        <span class={isGone ? "state-dot gone" : "state-dot"} aria-hidden="true" />
        {isGone ? "Server away" : "Connected"}
        <IconButton icon="help" name="Keys and help (?)" onClick={onHelp} />
      </div>
    </nav>
  );
}

interface LinkProps {
  readonly session: SessionListing;
  readonly isCurrent: boolean;
  readonly onOpen: (id: string) => void;
}

function SessionLink({ session, isCurrent, onOpen }: LinkProps) {
  return (
    <a
      class="session"
      href={`/s/${encodeURIComponent(session.id)}`}
      title={session.problem ?? factsOf(session)}
      aria-current={isCurrent ? "page" : undefined}
      onClick={(event) => {
        // Another tab or window is the browser's own work.
        if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        onOpen(session.id);
      }}
    >
      <span class="session-title">{session.title ?? session.id}</span>
      <SessionState session={session} />
    </a>
  );
}

function SessionState({ session: { state, problem, modifiedAt } }: { readonly session: SessionListing }) {
  if (problem !== undefined)
    return (
      <span class="bad-text" role="img" aria-label="cannot be read">
        ✕
      </span>
    );
  if (state === "running") return <span class="state-dot live" role="img" aria-label="thinking" />;
  if (state === "asks")
    return (
      <span class="warn-text" role="img" aria-label="asks for an answer">
        ?
      </span>
    );
  return <time dateTime={new Date(modifiedAt).toISOString()}>{ageOf(modifiedAt, Date.now())}</time>;
}

interface Sessions {
  readonly found: readonly SessionListing[];
  readonly total: number;
  readonly problem: Problems["problem"];
  readonly more: () => void;
}

function useSessions(agent: RemoteAgent, search: string, version: string): Sessions {
  const [shown, setShown] = useState<{ readonly found: readonly SessionListing[]; readonly total: number }>(
    NONE,
  );
  const { problem, show, clear } = useProblem();
  const [round, setRound] = useState(0);
  /** How many sessions the reader has asked for. */
  const wanted = useRef(PAGE);
  useEffect(() => {
    wanted.current = PAGE;
  }, [search]);
  useEffect(() => {
    let stale = false;
    const load = async (): Promise<void> => {
      try {
        const found: SessionListing[] = [];
        let total = 0;
        while (found.length < wanted.current) {
          const before = found.at(-1);
          const page = await agent.page({
            limit: PAGE,
            ...(search === "" ? {} : { search }),
            ...(before === undefined ? {} : { before }),
          });
          found.push(...page.sessions);
          total = Math.max(page.total, found.length);
          if (page.sessions.length < PAGE) break;
        }
        if (stale) return;
        setShown({ found, total: found.length < wanted.current ? found.length : total });
        clear();
      } catch (error) {
        if (!stale && !isAway(error)) show(error); // the panel over the field says that
      }
    };
    void load();
    return () => {
      stale = true;
    };
  }, [agent, search, version, round]);
  useEffect(() => {
    const again = (): void => {
      if (document.visibilityState === "visible") setRound((count) => count + 1);
    };
    const timer = setInterval(again, LOOK_AGAIN_MS);
    document.addEventListener("visibilitychange", again);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", again);
    };
  }, []);
  return {
    ...shown,
    problem,
    more: () => {
      const next = shown.found.length + PAGE;
      if (wanted.current >= next && problem === undefined) return; // scrolling asks many times
      wanted.current = next;
      setRound((count) => count + 1);
    },
  };
}

const NONE = { found: [], total: 0 } as const;

function factsOf({ id, modifiedAt, usage, costUsd, model, subAgentOf, cwd, title }: SessionListing): string {
  const tokens =
    usage === undefined || usage.inputTokens === 0
      ? undefined
      : `${compact(usage.inputTokens + usage.outputTokens)} tokens`;
  const caller = subAgentOf === undefined ? undefined : `sub-agent of ${subAgentOf}`;
  const when = new Date(modifiedAt).toLocaleString();
  return [title ?? id, when, model, tokens, dollars(costUsd), cwd, caller]
    .filter((part) => part !== undefined)
    .join(" · ");
}
