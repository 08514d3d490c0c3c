/** The three panes: sessions, conversation, inspector. A narrow window shows the conversation, and the others over it. */

import { useCallback, useEffect, useRef, useState } from "preact/hooks";

import type { RemoteAgent, SessionHandle } from "../../access/client/index.ts";
import { forgetDraft } from "./composer/drafts.ts";
import { FirstStart } from "./composer/first-start.tsx";
import { HelpSheet } from "./frame/help-sheet.tsx";
import { SessionList } from "./frame/session-list.tsx";
import type { InspectorTab, RequestChoice } from "./inspector/inspector.tsx";
import { keepFlag, keptFlag } from "./kept.ts";
import { loadedLater } from "./loaded-later.tsx";
import { IconButton } from "./look/icon-button.tsx";
import { Problem } from "./look/problem.tsx";
import { isAway } from "./server-link.ts";
import { SessionPane } from "./session-pane.tsx";
import { SessionView } from "./session-view.ts";
import { tellAddress } from "./use-address.ts";
import { useKeys } from "./use-keys.ts";
import { useMedia } from "./use-media.ts";
import { useProblem } from "./use-problem.ts";

const Inspector = loadedLater(async () => (await import("./inspector/inspector.tsx")).Inspector);

/** Below this width the sessions and the inspector come over the conversation. */
const ONE_PANE = "(max-width: 959px)";

export function App({ agent }: { readonly agent: RemoteAgent }) {
  const [view, setView] = useState<SessionView>();
  const [selected, setSelected] = useState<string>();
  const { problem, show, clear } = useProblem();
  const [listVersion, setListVersion] = useState(0);
  const [sessions, setSessions] = useState(() => keptFlag("sessions", true));
  const [inspector, setInspector] = useState(() => keptFlag("inspector", false) && !isOnePane());
  const [over, setOver] = useState<"sessions">();
  const [tab, setTab] = useState<InspectorTab>("request");
  const [request, setRequest] = useState<RequestChoice>("newest");
  const [help, setHelp] = useState(false);
  const shown = useRef<string>();
  const onePane = useMedia(ONE_PANE);

  const take = useCallback((handle: SessionHandle, push: boolean) => {
    shown.current = handle.id;
    setView((before) => {
      void before?.close();
      return new SessionView(handle);
    });
    setSelected(undefined);
    clear();
    setOver(undefined);
    if (push) history.pushState(null, "", `/s/${encodeURIComponent(handle.id)}`);
    setListVersion((count) => count + 1);
  }, []);

  const leave = useCallback((push: boolean) => {
    setView((before) => {
      void before?.close();
      return undefined;
    });
    setSelected(undefined);
    clear();
    setOver(undefined);
    shown.current = undefined;
    if (push) history.pushState(null, "", "/");
    document.title = "Throughline";
  }, []);

  const open = useCallback(
    async (id: string, push: boolean) => {
      try {
        // A link to a removed session must not create a new one.
        take(await agent.open({ id, mode: "read" }), push);
      } catch (error) {
        if (isAway(error)) return; // what is shown stays, and the panel says what to do
        leave(false);
        show(error);
      }
    },
    [agent],
  );

  const openOther = useCallback((id: string) => void open(id, true), [open]);

  const remove = useCallback(
    async (id: string) => {
      await agent.remove(id);
      forgetDraft(id);
      leave(true);
      setListVersion((count) => count + 1);
    },
    [agent],
  );

  useEffect(() => {
    const fromAddress = (): void => {
      const id = sessionInAddress();
      // The address may name another event of the same session.
      if (id === undefined) leave(false);
      else if (id !== shown.current) void open(id, false);
    };
    fromAddress();
    addEventListener("popstate", fromAddress);
    return () => removeEventListener("popstate", fromAddress);
  }, [open]);

  const showInspector = (on: boolean): void => {
    setInspector(on);
    if (!isOnePane()) keepFlag("inspector", on);
  };
  const showSessions = (): void => {
    if (isOnePane() || (inspector && matchMedia("(max-width: 1199px)").matches))
      setOver(over === undefined ? "sessions" : undefined);
    else {
      setSessions(!sessions);
      keepFlag("sessions", !sessions);
    }
  };
  const showHelp = useCallback(() => setHelp(true), []);
  useKeys({
    "?": showHelp,
    i: () => {
      if (view !== undefined) showInspector(!inspector);
    },
    "/": () => {
      if (isOnePane()) setOver("sessions");
      else setSessions(true);
      setTimeout(() => document.getElementById("search-sessions")?.focus());
    },
  });
  const changed = useCallback(() => setListVersion((count) => count + 1), []);
  const inspect = useCallback(
    (id: string | undefined) => {
      setTab(id === undefined ? "request" : "block");
      setInspector(true);
      if (id === undefined) return setRequest("next");
      setSelected(id);
      if (view !== undefined) tellAddress(view, id);
    },
    [view],
  );
  const classes = [
    "app",
    sessions ? "" : "no-sessions",
    view !== undefined && inspector ? "with-inspector" : "",
    over === undefined ? "" : "sessions-over",
  ];
  return (
    <div class={classes.filter((name) => name !== "").join(" ")}>
      <SessionList
        agent={agent}
        version={listVersion}
        current={view?.handle.id}
        onOpen={openOther}
        onNew={() => leave(true)}
        onHide={showSessions}
        onHelp={showHelp}
      />
      <main class="main" aria-label="Conversation">
        {view === undefined ? (
          <>
            <header class="head plain-head">
              <div class="head-row">
                <IconButton
                  icon="menu"
                  name="Show sessions"
                  class={sessions ? "narrow-only" : ""}
                  onClick={showSessions}
                />
                <h1 class="visually-hidden">New session</h1>
                <span class="space" />
                <span class="meta">{agent.server.model}</span>
              </div>
              <Problem problem={problem} />
            </header>
            <FirstStart agent={agent} onOpened={(handle) => take(handle, true)} />
          </>
        ) : (
          <SessionPane
            key={view.handle.id}
            agent={agent}
            view={view}
            selected={selected}
            showsSessions={sessions}
            showsInspector={inspector}
            onSelect={setSelected}
            onSessions={showSessions}
            onInspector={() => showInspector(!inspector)}
            onInspect={inspect}
            onOpen={openOther}
            onRemoved={remove}
            onChange={changed}
          />
        )}
      </main>
      {view === undefined || !inspector ? null : (
        <Inspector
          key={view.handle.id}
          view={view}
          selected={selected}
          tab={tab}
          onTab={setTab}
          request={request}
          onRequest={setRequest}
          onSelect={setSelected}
          onClose={() => showInspector(false)}
          isAlone={onePane}
        />
      )}
      {help ? <HelpSheet onClose={() => setHelp(false)} /> : null}
    </div>
  );
}

function isOnePane(): boolean {
  return matchMedia(ONE_PANE).matches;
}

function sessionInAddress(): string | undefined {
  const found = /^\/s\/([^/]+)$/.exec(location.pathname)?.[1];
  return found === undefined ? undefined : decodeURIComponent(found);
}
