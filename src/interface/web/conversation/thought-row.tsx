/** A thought on the line: folded to one row, its parts below. A thought that will not be sent says so, and why. */

import { useState } from "preact/hooks";

import {
  liveThoughtFacts,
  type ReasoningBlock,
  reasoningLabel,
  type UnsentThought,
} from "../../fragments/index.ts";
import { Icon } from "../look/icons.tsx";
import { pure } from "../pure.tsx";
import { useNow } from "../use-now.ts";
import { useToggle } from "../use-toggle.ts";
import { markdownOf } from "./block-markdown.ts";
import { CopyButton } from "./copy-button.tsx";
import { InspectButton } from "./inspect-button.tsx";
import { LineRow } from "./line-row.tsx";
import { Prose } from "./prose.tsx";

interface Props {
  readonly block: ReasoningBlock;
  readonly session: string;
  readonly unsent: UnsentThought | undefined;
  readonly selected: boolean;
  readonly onInspect: (id: string) => void;
}

export const ThoughtRow = pure(({ block, session, unsent, selected, onInspect }: Props) => {
  const [open, setOpen] = useToggle(session, block.id);
  const elapsed = useElapsed(block);
  const [done = "", ...facts] = reasoningLabel(block).split(" · ");
  const label = block.generating ? <b>{reasoningLabel(block)}</b> : done;
  const meta = block.generating ? (
    liveThoughtFacts(block, elapsed)
  ) : unsent === undefined ? (
    facts.join(" · ")
  ) : (
    <>
      <span class="warn-text">Not sent</span> · {unsent.words}
    </>
  );
  return (
    <LineRow
      id={block.id}
      kind="reasoning"
      sign={block.generating ? "live" : unsent === undefined ? "thought" : "unsent"}
      label={label}
      meta={meta}
      selected={selected}
      superseded={block.superseded}
      open={open}
      onToggle={setOpen}
      actions={
        <>
          <CopyButton text={() => markdownOf(block)} name="Copy this thought" />
          <InspectButton id={block.id} name="Inspect this thought" onInspect={onInspect} />
        </>
      }
    >
      {unsent === undefined ? null : (
        <dl class="facts-box">
          <dt>Made by</dt>
          <dd>{unsent.madeBy}</dd>
          <dt>Now in use</dt>
          <dd>{unsent.nowInUse}</dd>
          <dt>Sent again</dt>
          <dd>{unsent.sentAgain}</dd>
        </dl>
      )}
      {open ? <Parts block={block} /> : <Unread block={block} />}
    </LineRow>
  );
});

/** What a search in the page finds in a folded thought. It is drawn as Markdown when it is unfolded. */
function Unread({ block }: { readonly block: ReasoningBlock }) {
  return <p class="unread">{block.parts.map(({ title = "", body }) => `${title}\n${body}`).join("\n")}</p>;
}

function Parts({ block }: { readonly block: ReasoningBlock }) {
  const last = block.parts.length - 1;
  if (last < 0)
    return (
      <p class="empty">
        {block.generating ? "Nothing to read yet." : "The provider gave no summary of this thought."}
      </p>
    );
  return (
    <>
      {block.parts.map(({ title, body }, at) =>
        block.generating && at < last ? (
          <p key={at} class="ticked">
            <Icon name="check" small /> {title ?? "Thought"}
          </p>
        ) : (
          <section key={at}>
            {title === undefined || (block.generating && at === last) ? null : (
              <p class="part-title">{title}</p>
            )}
            <Prose text={body} growing={block.generating} />
          </section>
        ),
      )}
    </>
  );
}

/** When each running thought was first seen: a row that is drawn anew goes on counting. */
const firstSeen = new Map<string, number>();

function useElapsed({ id, generating }: ReasoningBlock): number {
  const now = useNow(generating);
  const [since] = useState(() => {
    const known = firstSeen.get(id) ?? performance.now();
    if (generating) firstSeen.set(id, known);
    return known;
  });
  return Math.max(0, now - since);
}
