/** A call on the line: what the tool did in words, its output below, and its exact arguments one click further. */

import { useState } from "preact/hooks";

import { unmistakable } from "../../../base/support/index.ts";
import {
  exitCode,
  formatDuration,
  openWaitMs,
  type ToolBlock,
  type ToolOutcome,
  toolTitle,
  waitedLabel,
} from "../../fragments/index.ts";
import { pure } from "../pure.tsx";
import type { SessionView } from "../session-view.ts";
import { useNow } from "../use-now.ts";
import { useToggle } from "../use-toggle.ts";
import { markdownOf } from "./block-markdown.ts";
import { CopyButton } from "./copy-button.tsx";
import { Asked, Elicitation } from "./elicitation.tsx";
import { InspectButton } from "./inspect-button.tsx";
import { LineRow, type RowSign } from "./line-row.tsx";
import { Output } from "./output.tsx";
import { Permission } from "./permission.tsx";
import { ResultImages } from "./result-images.tsx";

interface Props {
  readonly block: ToolBlock;
  readonly view: SessionView;
  /** In the last turn, a call that failed arrives unfolded. */
  readonly isLast: boolean;
  readonly selected: boolean;
  readonly onInspect: (id: string) => void;
}

const SIGNS: Readonly<Record<ToolOutcome, RowSign>> = {
  writing: "live",
  running: "live",
  asks: "asks",
  ok: "ok",
  failed: "failed",
  denied: "failed",
  stopped: "stopped",
  not_run: "waiting",
  unknown: "asks",
};

export const ToolRow = pure(({ block, view, isLast, selected, onInspect }: Props) => {
  const { verb, subject, facts, outcome } = toolTitle(block);
  const [open, setOpen] = useToggle(view.handle.id, block.id, outcome === "failed" && isLast);
  const question = block.permission?.question;
  const asked = block.elicitations ?? [];
  const waits = question?.waits === true || asked.some((one) => one.waits);
  const { result } = block;
  return (
    <LineRow
      id={block.id}
      kind="tool"
      sign={SIGNS[outcome]}
      label={
        <>
          {verb} {subject === "" ? null : <code>{subject}</code>}
        </>
      }
      meta={<Facts facts={facts} block={block} waits={waits} />}
      end={result?.durationMs === undefined ? undefined : formatDuration(result.durationMs)}
      selected={selected}
      superseded={block.superseded}
      open={open}
      onToggle={setOpen}
      actions={
        <>
          <CopyButton text={() => markdownOf(block)} name="Copy this call" />
          <InspectButton id={block.id} name="Inspect this call" onInspect={onInspect} />
        </>
      }
      below={
        <>
          {block.permission !== undefined && question?.waits === true ? (
            <Permission
              block={block}
              requestId={block.permission.requestId}
              question={question}
              view={view}
            />
          ) : null}
          {asked.map((one) =>
            one.waits ? <Elicitation key={one.requestId} question={one} view={view} /> : null,
          )}
          {question?.waits === false ? (
            <p class="meta wraps">
              This question was open when the turn was interrupted. Finish the turn to answer it.
            </p>
          ) : null}
        </>
      }
    >
      {asked.map((one) => (
        <Asked key={one.requestId} question={one} />
      ))}
      {block.progress === "" ? null : <Output text={block.progress} tail />}
      {result === undefined ? null : (
        <Output text={result.text} bad={outcome === "failed" && exitCode(block) === undefined} />
      )}
      {result?.images === undefined ? null : <ResultImages images={result.images} view={view} />}
      {result?.forPerson === undefined ? null : (
        <>
          <p class="part-title">For you, not sent to the model</p>
          <Output text={result.forPerson} />
        </>
      )}
      {(result?.sessions ?? []).map((id) => (
        <p key={id}>
          Sub-agent: <a href={`/s/${encodeURIComponent(id)}`}>session {id}</a>
        </p>
      ))}
      <Arguments block={block} />
    </LineRow>
  );
});

interface FactsProps {
  readonly facts: readonly string[];
  readonly block: ToolBlock;
  readonly waits: boolean;
}

/** Facts beside the title. A wait for a person is counted by itself, not as work. */
function Facts({ facts, block, waits }: FactsProps) {
  const code = exitCode(block);
  const now = useNow(waits || block.generating);
  const [since] = useState(now);
  const waited = waits ? (openWaitMs(block, Date.now()) ?? now - since) : undefined;
  const ran = block.generating && !waits ? now - since : 0;
  const all = [
    ...facts,
    ...(waited === undefined ? [] : [waitedLabel(waited)]),
    ...(ran < 1000 ? [] : [formatDuration(ran)]),
  ];
  return (
    <>
      {all.map((fact, at) => (
        <span key={at} class={fact === `exit ${code}` && code !== 0 ? "bad-text" : ""}>
          {at === 0 ? "" : " · "}
          {fact}
        </span>
      ))}
    </>
  );
}

function Arguments({ block }: { readonly block: ToolBlock }) {
  const [shown, setShown] = useState(false);
  if (block.arguments === "") return null;
  return (
    <>
      <p class="output-foot">
        <button type="button" class="link" aria-expanded={shown} onClick={() => setShown(!shown)}>
          Arguments as JSON
        </button>
      </p>
      {shown ? <Output text={unmistakable(block.arguments)} name="Arguments" /> : null}
      {shown && block.written !== undefined ? (
        <>
          <p class="part-title">Repaired; the model wrote</p>
          <Output text={unmistakable(block.written)} name="What the model wrote" />
        </>
      ) : null}
    </>
  );
}
