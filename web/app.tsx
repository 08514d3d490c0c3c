/**
 * The three panes: sessions, conversation, inspector. On a narrow screen one at a time.
 *
 * @module
 */

import { useCallback, useEffect, useState } from "preact/hooks";

import type { RemoteAgent } from "../src/client/index.ts";
import { messageOf } from "../src/support/index.ts";
import { Composer } from "./components/composer.tsx";
import { Conversation } from "./components/conversation.tsx";
import { Inspector } from "./components/inspector.tsx";
import { SessionHeader } from "./components/session-header.tsx";
import { SessionList } from "./components/session-list.tsx";
import { SessionView } from "./session-view.ts";
import { useVersion } from "./use-version.ts";

type Pane = "sessions" | "conversation" | "inspector";

const PANES: readonly Pane[] = ["sessions", "conversation", "inspector"];

export function App({ agent }: { readonly agent: RemoteAgent }) {
  const [view, setView] = useState<SessionView>();
  const [pane, setPane] = useState<Pane>("conversation");
  const [selected, setSelected] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const [listVersion, setListVersion] = useState(0);

  const open = useCallback(
    async (id: string | undefined, push: boolean) => {
      try {
        const handle = await agent.open(id === undefined ? {} : { id });
        setView((before) => {
          void before?.close();
          return new SessionView(handle);
        });
        setSelected(undefined);
        setProblem(undefined);
        if (push) history.pushState(null, "", `/s/${encodeURIComponent(handle.id)}`);
        setListVersion((count) => count + 1);
        setPane("conversation");
      } catch (error) {
        setProblem(messageOf(error));
      }
    },
    [agent],
  );

  useEffect(() => {
    const fromAddress = (): void => {
      const id = sessionInAddress();
      if (id !== undefined) void open(id, false);
    };
    fromAddress();
    addEventListener("popstate", fromAddress);
    return () => removeEventListener("popstate", fromAddress);
  }, [open]);

  return (
    <div class={`app show-${pane}`}>
      <nav class="tabs" aria-label="Panes">
        {PANES.map((name) => (
          <button key={name} type="button" aria-pressed={pane === name} onClick={() => setPane(name)}>
            {name}
          </button>
        ))}
      </nav>
      <SessionList
        agent={agent}
        version={listVersion}
        current={view?.handle.id}
        onOpen={(id) => void open(id, true)}
        onNew={() => void open(undefined, true)}
      />
      <main class="conversation-pane" aria-label="Conversation">
        {problem === undefined ? null : (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        {view === undefined ? (
          <Welcome onNew={() => void open(undefined, true)} />
        ) : (
          <Session
            key={view.handle.id}
            agent={agent}
            view={view}
            selected={selected}
            onSelect={(id) => {
              setSelected(id);
            }}
            onOpen={(id) => void open(id, true)}
            onTurnEnd={() => setListVersion((count) => count + 1)}
          />
        )}
      </main>
      {view === undefined ? null : (
        <Inspector key={view.handle.id} agent={agent} view={view} selected={selected} />
      )}
    </div>
  );
}

interface SessionProps {
  readonly agent: RemoteAgent;
  readonly view: SessionView;
  readonly selected: string | undefined;
  readonly onSelect: (id: string) => void;
  readonly onOpen: (id: string) => void;
  readonly onTurnEnd: () => void;
}

function Session({ agent, view, selected, onSelect, onOpen, onTurnEnd }: SessionProps) {
  useVersion(view);
  const { busy } = view;
  useEffect(() => {
    if (!busy) onTurnEnd();
    // The list is asked again when a turn has ended, not with every delta.
    // oxlint-disable-next-line
  }, [busy]);
  return (
    <>
      <SessionHeader agent={agent} view={view} onOpen={onOpen} />
      <Conversation view={view} selected={selected} onSelect={onSelect} />
      <Composer view={view} />
    </>
  );
}

function Welcome({ onNew }: { readonly onNew: () => void }) {
  return (
    <section class="welcome">
      <h1>Throughline</h1>
      <p>Choose a session, or begin one. Every thought a model has is kept, and goes back to it.</p>
      <button type="button" class="primary" onClick={onNew}>
        New session
      </button>
    </section>
  );
}

function sessionInAddress(): string | undefined {
  const found = /^\/s\/([^/]+)$/.exec(location.pathname)?.[1];
  return found === undefined ? undefined : decodeURIComponent(found);
}
