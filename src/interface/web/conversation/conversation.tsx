/**
 * The conversation: it opens at its end, follows the end while the reader wants it, and draws older turns bit by bit, so
 * that a long session is there at once.
 */

import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import type { BlockVersion, ThoughtMarks } from "../../fragments/index.ts";
import { Icon } from "../look/icons.tsx";
import type { SessionView } from "../session-view.ts";
import type { Turn } from "../turn-list.ts";
import { useVersion } from "../use-version.ts";
import { FollowEnd } from "./follow-end.ts";
import { TurnSection } from "./turn-section.tsx";
import { Undone } from "./undone.tsx";
import { useOlderTurns } from "./use-older-turns.ts";

interface Props {
  readonly view: SessionView;
  readonly selected: string | undefined;
  readonly onInspect: (id: string) => void;
  readonly onOpen: (id: string) => void;
  readonly onProblem: (error: unknown) => void;
  /** The reader scrolled: down hides the header on a phone, up shows it again. */
  readonly onScroll: (down: boolean) => void;
}

export function Conversation({ view, selected, onInspect, onOpen, onProblem, onScroll }: Props) {
  const version = useVersion(view);
  const scroller = useRef<HTMLDivElement>(null);
  const column = useRef<HTMLDivElement>(null);
  const sentinel = useRef<HTMLDivElement>(null);
  const follow = useRef<FollowEnd>();
  const [following, setFollowing] = useState(true);
  const seen = useRef(0);
  useLayoutEffect(() => {
    if (scroller.current === null || column.current === null || sentinel.current === null) return undefined;
    const own = new FollowEnd(scroller.current, column.current, sentinel.current, () =>
      setFollowing(own.following),
    );
    follow.current = own;
    own.keep();
    return () => own.stop();
  }, []);

  const turns = view.loaded ? view.turns : NONE;
  const wanted =
    selected === undefined ? -1 : turns.findIndex((turn) => turn.blocks.some(({ id }) => id === selected));
  const first = useOlderTurns(turns, wanted);
  const place = usePlace(scroller, turns);
  useLayoutEffect(() => follow.current?.keep(), [version, first]);
  useSelected(scroller, selected, wanted >= first && wanted >= 0, () => follow.current?.leave());

  const { blocks } = view;
  if (following) seen.current = blocks.length;
  const fresh = Math.max(0, blocks.length - seen.current);
  const { messages, answers, undone } = view.versions;
  const { marks, busy } = view;
  const choose = useCallback(
    (chosen: BlockVersion, turn: string): void => {
      follow.current?.leave();
      place.keep(turn);
      view.handle.checkout({ to: chosen.to }).catch(onProblem);
    },
    [view, onProblem],
  );
  const last = turns.length - 1;
  const lastScroll = useRef(0);
  return (
    <>
      <div
        ref={scroller}
        class="scroller"
        // A region that scrolls must be reachable by keyboard.
        tabIndex={0}
        role="region"
        aria-label="Conversation"
        aria-busy={busy}
        onScroll={({ currentTarget: { scrollTop } }) => {
          if (Math.abs(scrollTop - lastScroll.current) < 8) return;
          onScroll(scrollTop > lastScroll.current && follow.current?.following !== true);
          lastScroll.current = scrollTop;
        }}
      >
        <div ref={column} class="column">
          {first > 0 ? <p class="note older">{first} earlier turns are being drawn…</p> : null}
          {turns.slice(first).map((turn, index) => {
            const at = first + index;
            const id = turn.message?.id ?? "";
            return (
              <TurnSection
                key={turn.key}
                turn={turn}
                view={view}
                marked={markedIn(turn, marks)}
                selected={at === wanted ? selected : undefined}
                isLast={at === last}
                isBusy={busy && (at === last || messages.has(id) || answers.has(id))}
                isBroken={at === last && view.broken}
                messages={messages.get(id)}
                answers={answers.get(id)}
                onVersion={choose}
                onInspect={onInspect}
                onOpen={onOpen}
              />
            );
          })}
          <Undone versions={undone} disabled={busy} onChoose={(chosen) => choose(chosen, "")} />
          {view.loaded ? null : <p class="note">Loading the session…</p>}
          <div ref={sentinel} class="sentinel" />
        </div>
      </div>
      {following || turns.length === 0 ? null : (
        <div class="jump-place">
          <button type="button" class="jump" onClick={() => follow.current?.jump()}>
            <Icon name="arrow-down" />
            <span>Jump to latest</span>
            {fresh === 0 ? null : <span class="fresh">{fresh} new</span>}
          </button>
        </div>
      )}
    </>
  );
}

const NONE: readonly Turn[] = [];

/** Scrolls to the selected block once it is drawn. */
function useSelected(
  scroller: { readonly current: HTMLElement | null },
  selected: string | undefined,
  isThere: boolean,
  leave: () => void,
): void {
  useEffect(() => {
    if (selected === undefined || !isThere) return;
    leave();
    const found = [...(scroller.current?.querySelectorAll<HTMLElement>("[data-block]") ?? [])].find(
      ({ dataset }) => dataset["block"] === selected,
    );
    found?.scrollIntoView({ block: "nearest" });
  }, [selected, isThere]);
}

/** When another version is shown, the turn in its place stays where the reader saw it. */
function usePlace(
  scroller: { readonly current: HTMLElement | null },
  turns: readonly Turn[],
): { readonly keep: (turn: string) => void } {
  const kept = useRef<{
    readonly index: number;
    readonly key: string;
    readonly top: number;
    readonly turn: Turn;
  }>();
  const current = useRef(turns);
  current.current = turns;
  useLayoutEffect(() => {
    const { index, key, top, turn } = kept.current ?? {};
    if (index === undefined || scroller.current === null) return;
    const now = turns[index];
    if (now === undefined || now === turn) return;
    const found = sectionOf(scroller.current, now.key) ?? sectionOf(scroller.current, key ?? "");
    if (found !== undefined) scroller.current.scrollTop += found.getBoundingClientRect().top - (top ?? 0);
    kept.current = undefined;
  }, [turns]);
  return {
    keep(key) {
      const index = current.current.findIndex((turn) => turn.key === key);
      const section = scroller.current === null ? undefined : sectionOf(scroller.current, key);
      const turn = current.current[index];
      if (section === undefined || turn === undefined) return;
      kept.current = { index, key, top: section.getBoundingClientRect().top, turn };
    },
  };
}

function sectionOf(scroller: HTMLElement, key: string): HTMLElement | undefined {
  return [...scroller.querySelectorAll<HTMLElement>("[data-turn]")].find(
    ({ dataset }) => dataset["turn"] === key,
  );
}

const marked = new WeakMap<Turn, { readonly marks: ThoughtMarks; readonly text: string }>();

/** The marks of a turn as one text, so that only turns whose marks changed are drawn again. */
function markedIn(turn: Turn, marks: ThoughtMarks): string {
  const known = marked.get(turn);
  if (known?.marks === marks) return known.text;
  const text = turn.blocks
    .flatMap((block) => (block.kind === "reasoning" ? [marks.of(block)?.words ?? ""] : []))
    .join("\n");
  marked.set(turn, { marks, text });
  return text;
}
