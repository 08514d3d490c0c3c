/** One turn: what a person wrote, the line of thoughts and calls, the answer, and how it ended. */

import { type BlockVersion, SUPERSEDED_LABEL } from "../../fragments/index.ts";
import { pure } from "../pure.tsx";
import type { SessionView } from "../session-view.ts";
import type { Segment, Turn } from "../turn-list.ts";
import { Note } from "./note.tsx";
import { OwnMessage } from "./own-message.tsx";
import { Prose } from "./prose.tsx";
import { ThoughtRow } from "./thought-row.tsx";
import { ToolRow } from "./tool-row.tsx";
import { TurnFoot } from "./turn-foot.tsx";

export interface TurnProps {
  readonly turn: Turn;
  readonly view: SessionView;
  /** Changes when the marks of this turn do. The marks themselves are another object after each answer of the server. */
  readonly marked: string;
  /** The selected block, if it is in this turn. */
  readonly selected: string | undefined;
  readonly isLast: boolean;
  readonly isBusy: boolean;
  /** The turn has no end, and no process goes on with it. */
  readonly isBroken: boolean;
  readonly messages: readonly BlockVersion[] | undefined;
  readonly answers: readonly BlockVersion[] | undefined;
  readonly onVersion: (version: BlockVersion, turn: string) => void;
  readonly onInspect: (id: string) => void;
  readonly onOpen: (id: string) => void;
}

export const TurnSection = pure((props: TurnProps) => {
  const { turn, view, selected, isLast, isBusy, isBroken, messages, answers, onVersion, onInspect, onOpen } =
    props;
  const choose = (version: BlockVersion): void => onVersion(version, turn.key);
  return (
    <section class="turn" data-turn={turn.key}>
      {turn.message === undefined ? null : (
        <OwnMessage
          block={turn.message}
          view={view}
          versions={messages}
          isBusy={isBusy}
          selected={selected === turn.message.id}
          onVersion={choose}
        />
      )}
      {turn.segments.map((segment, at) => (
        <SegmentView key={keyOf(segment, at)} segment={segment} props={props} />
      ))}
      {isBroken ? <p class="ending">Broken off here · what arrived is kept</p> : null}
      {turn.ends.map((end, at) => (
        <TurnFoot
          key={end.id}
          turn={turn}
          end={end}
          view={view}
          versions={at === turn.ends.length - 1 ? answers : undefined}
          isLast={isLast && at === turn.ends.length - 1}
          isBusy={isBusy}
          onVersion={choose}
          onInspect={onInspect}
          onOpen={onOpen}
        />
      ))}
    </section>
  );
});

function SegmentView({ segment, props }: { readonly segment: Segment; readonly props: TurnProps }) {
  const { view, selected, isLast, isBusy, onInspect } = props;
  switch (segment.kind) {
    case "line":
      return (
        <ol class="line">
          {segment.rows.map((block) =>
            block.kind === "reasoning" ? (
              <ThoughtRow
                key={block.id}
                block={block}
                session={view.handle.id}
                unsent={view.marks.of(block)}
                selected={block.id === selected}
                onInspect={onInspect}
              />
            ) : (
              <ToolRow
                key={block.id}
                block={block}
                view={view}
                isLast={isLast}
                selected={block.id === selected}
                onInspect={onInspect}
              />
            ),
          )}
        </ol>
      );
    case "prose": {
      const { block } = segment;
      const more = `${block.id === selected ? " selected" : ""}${block.superseded ? " superseded" : ""}${block.phase === "commentary" ? " commentary" : ""}`;
      return (
        <div class={`block text${more}`} data-block={block.id}>
          {block.superseded ? <p class="ending">{SUPERSEDED_LABEL}</p> : null}
          <Prose text={block.text} growing={block.generating} />
        </div>
      );
    }
    case "message":
      return (
        <OwnMessage
          block={segment.block}
          view={view}
          versions={undefined}
          isBusy={isBusy}
          selected={segment.block.id === selected}
          onVersion={() => undefined}
        />
      );
    case "note":
      return <Note block={segment.block} />;
    default:
      return segment satisfies never;
  }
}

/** By its first block: a line that grows stays the same element. */
function keyOf(segment: Segment, at: number): string {
  return segment.kind === "line" ? `line/${segment.rows[0]?.id ?? at}` : segment.block.id;
}
