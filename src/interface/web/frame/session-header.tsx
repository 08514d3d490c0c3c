/** One row above the conversation: the title, the model, how full its context is, the inspector, and everything else. */

import type { RemoteAgent } from "../../../access/client/index.ts";
import { IconButton } from "../look/icon-button.tsx";
import { Problem } from "../look/problem.tsx";
import type { SessionView } from "../session-view.ts";
import { useProblem } from "../use-problem.ts";
import { useVersion } from "../use-version.ts";
import { ContextMeter } from "./context-meter.tsx";
import { ModelMenu } from "./model-menu.tsx";
import { MoreMenu } from "./more-menu.tsx";

interface Props {
  readonly agent: RemoteAgent;
  readonly view: SessionView;
  readonly isHidden: boolean;
  readonly showsSessions: boolean;
  readonly showsInspector: boolean;
  readonly onSessions: () => void;
  readonly onInspector: () => void;
  readonly onOpen: (id: string) => void;
  readonly onRemoved: (id: string) => Promise<void>;
}

export function SessionHeader(props: Props) {
  const { agent, view, isHidden, showsSessions, showsInspector, onSessions, onInspector, onOpen, onRemoved } =
    props;
  useVersion(view);
  const { handle } = view;
  const problems = useProblem();
  return (
    <header class={isHidden ? "head is-hidden" : "head"}>
      <div class="head-row">
        <IconButton
          icon="menu"
          name="Show sessions"
          class={showsSessions ? "narrow-only" : ""}
          onClick={onSessions}
        />
        <h1>{handle.title ?? "New session"}</h1>
        <span class="space" />
        <ModelMenu agent={agent} view={view} disabled={handle.access !== "write"} problems={problems} />
        <ContextMeter view={view} />
        <IconButton
          icon="inspector"
          name="Inspector"
          title="Inspector (I)"
          class="not-on-phone"
          pressed={showsInspector}
          onClick={onInspector}
        />
        <MoreMenu
          agent={agent}
          view={view}
          onOpen={onOpen}
          onRemoved={onRemoved}
          onInspector={onInspector}
          problems={problems}
        />
      </div>
      {handle.access === "write" ? null : (
        <p class="head-note" role="status">
          Another process is writing this session. You can only watch it here.
        </p>
      )}
      <Problem problem={problems.problem ?? (handle.connection === "lost" ? undefined : view.problem)} />
    </header>
  );
}
