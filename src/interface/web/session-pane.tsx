/** The pane of one session: header, conversation, composer. */

import { useEffect, useState } from "preact/hooks";

import type { RemoteAgent } from "../../access/client/index.ts";
import { nextRequestWords } from "../fragments/index.ts";
import { Composer } from "./composer/composer.tsx";
import { Announcer } from "./conversation/announcer.tsx";
import { Conversation } from "./conversation/conversation.tsx";
import { SessionHeader } from "./frame/session-header.tsx";
import { Problem } from "./look/problem.tsx";
import type { SessionView } from "./session-view.ts";
import { useAddress, useTitle } from "./use-address.ts";
import { useProblem } from "./use-problem.ts";
import { useVersion } from "./use-version.ts";

interface Props {
  readonly agent: RemoteAgent;
  readonly view: SessionView;
  readonly selected: string | undefined;
  readonly showsSessions: boolean;
  readonly showsInspector: boolean;
  readonly onSelect: (id: string | undefined) => void;
  readonly onSessions: () => void;
  readonly onInspector: () => void;
  /** A block, or the next request. */
  readonly onInspect: (id: string | undefined) => void;
  readonly onRemoved: (id: string) => Promise<void>;
  readonly onOpen: (id: string) => void;
  readonly onChange: () => void;
}

export function SessionPane(props: Props) {
  const { agent, view, selected, onSelect, onInspect, onOpen, onRemoved, onChange } = props;
  useVersion(view);
  useAddress(view, onSelect);
  useTitle(view);
  const { problem, show } = useProblem();
  const [scrolledDown, setScrolledDown] = useState(false);
  const { turnsEnded } = view.facts;
  const { title } = view.handle;
  // Reload the list when a turn has ended, not with every delta. Turns are counted, because a quick one starts and ends
  // between two draws.
  useEffect(() => onChange(), [turnsEnded, title]);
  const asks = view.facts.question !== undefined || view.facts.elicitations.length > 0;
  const count = view.marks.count(view.blocks);
  return (
    <>
      <SessionHeader
        agent={agent}
        view={view}
        isHidden={scrolledDown && !asks}
        showsSessions={props.showsSessions}
        showsInspector={props.showsInspector}
        onSessions={props.onSessions}
        onInspector={props.onInspector}
        onOpen={onOpen}
        onRemoved={onRemoved}
      />
      <Problem problem={problem} />
      <Conversation
        view={view}
        selected={selected}
        onInspect={onInspect}
        onOpen={onOpen}
        onProblem={show}
        onScroll={setScrolledDown}
      />
      <Announcer view={view} />
      <Composer
        view={view}
        agent={agent}
        nextRequest={
          count.total === 0
            ? undefined
            : { words: nextRequestWords(count), allGo: count.going === count.total }
        }
        onNextRequest={() => onInspect(undefined)}
      />
    </>
  );
}
