/** The three panes: sessions, conversation, inspector. A narrow screen shows one at a time. */

import { useCallback, useEffect, useRef, useState } from "preact/hooks";

import type { RemoteAgent } from "../../access/client/index.ts";
import { messageOf } from "../../base/support/index.ts";
import { Announcer } from "./components/announcer.tsx";
import { Composer } from "./components/composer.tsx";
import { Inspector } from "./components/inspector.tsx";
import { Problem } from "./components/problem.tsx";
import { SessionBlocks } from "./components/session-blocks.tsx";
import { SessionHeader } from "./components/session-header.tsx";
import { SessionList } from "./components/session-list.tsx";
import { SessionView } from "./session-view.ts";
import { tellAddress, useAddress, useTitle } from "./use-address.ts";
import { useVersion } from "./use-version.ts";

type Pane = "sessions" | "conversation" | "inspector";

const PANES: readonly Pane[] = ["sessions", "conversation", "inspector"];

export function App({ agent }: { readonly agent: RemoteAgent }) {
  const [view, setView] = useState<SessionView>();
  const [pane, setPane] = useState<Pane>("conversation");
  const [selected, setSelected] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const [listVersion, setListVersion] = useState(0);
  const shown = useRef<string>();

  const open = useCallback(
    async (id: string | undefined, push: boolean) => {
      try {
        // A link to a removed session must not create a new one.
        const handle = await agent.open(id === undefined ? {} : { id, mode: "read" });
        shown.current = handle.id;
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
        setPane("conversation"); // shows the problem
      }
    },
    [agent],
  );

  const remove = useCallback(
    async (id: string) => {
      await agent.remove(id);
      setView((before) => {
        void before?.close();
        return undefined;
      });
      setSelected(undefined);
      shown.current = undefined;
      history.pushState(null, "", "/");
      document.title = "Throughline";
      setListVersion((count) => count + 1);
    },
    [agent],
  );

  useEffect(() => {
    const fromAddress = (): void => {
      const id = sessionInAddress();
      // The address may name another event of the same session.
      if (id !== undefined && id !== shown.current) void open(id, false);
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
        <Problem text={problem} />
        {view === undefined ? (
          <Welcome onNew={() => void open(undefined, true)} />
        ) : (
          <Session
            key={view.handle.id}
            agent={agent}
            view={view}
            selected={selected}
            onSelect={setSelected}
            onInspect={(id) => {
              setSelected(id);
              setPane("inspector"); // has an effect only if one pane is shown at a time
            }}
            onOpen={(id) => void open(id, true)}
            onRemoved={remove}
            onChange={() => setListVersion((count) => count + 1)}
          />
        )}
      </main>
      {view === undefined ? (
        <aside class="inspector-pane" aria-label="Inspector">
          <p class="empty">No session is open.</p>
        </aside>
      ) : (
        <Inspector key={view.handle.id} agent={agent} view={view} selected={selected} />
      )}
    </div>
  );
}

interface SessionProps {
  readonly agent: RemoteAgent;
  readonly view: SessionView;
  readonly selected: string | undefined;
  readonly onSelect: (id: string | undefined) => void;
  readonly onInspect: (id: string) => void;
  readonly onRemoved: (id: string) => Promise<void>;
  readonly onOpen: (id: string) => void;
  readonly onChange: () => void;
}

function Session(props: SessionProps) {
  const { agent, view, selected, onSelect, onInspect, onOpen, onRemoved, onChange } = props;
  useVersion(view);
  useAddress(view, onSelect);
  useTitle(view);
  const { turnsEnded } = view.facts;
  const { title } = view.handle;
  // Reload the list when a turn has ended, not with every delta. Turns are counted, because a quick one starts and ends
  // between two draws.
  useEffect(() => onChange(), [turnsEnded, title]);
  return (
    <>
      <SessionHeader agent={agent} view={view} onOpen={onOpen} onRemoved={onRemoved} />
      <SessionBlocks
        view={view}
        selected={selected}
        onOpen={onOpen}
        onSelect={(id) => {
          onInspect(id);
          tellAddress(view, id);
        }}
      />
      <Announcer view={view} />
      <Composer view={view} />
    </>
  );
}

function Welcome({ onNew }: { readonly onNew: () => void }) {
  return (
    <section class="welcome">
      <h1>Throughline</h1>
      <p>Choose a session, or start a new one. All reasoning of a model is kept and sent back to it.</p>
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
