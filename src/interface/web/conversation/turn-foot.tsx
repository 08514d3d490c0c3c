/** The end of a turn: how it ended, what it cost, and what can be done with it. */

import { isLimit } from "../../../base/api/index.ts";
import {
  type BlockVersion,
  formatDuration,
  type TurnEndBlock,
  workedLabel,
  workedMs,
} from "../../fragments/index.ts";
import { IconButton } from "../look/icon-button.tsx";
import { Icon } from "../look/icons.tsx";
import { Problem } from "../look/problem.tsx";
import { compact } from "../numbers.ts";
import type { SessionView } from "../session-view.ts";
import type { Turn } from "../turn-list.ts";
import { useProblem } from "../use-problem.ts";
import { CopyButton } from "./copy-button.tsx";
import { InspectButton } from "./inspect-button.tsx";
import { Versions } from "./versions.tsx";

interface Props {
  readonly turn: Turn;
  readonly end: TurnEndBlock;
  readonly view: SessionView;
  readonly versions: readonly BlockVersion[] | undefined;
  readonly isLast: boolean;
  readonly isBusy: boolean;
  readonly onVersion: (version: BlockVersion) => void;
  readonly onInspect: (id: string) => void;
  readonly onOpen: (id: string) => void;
}

export function TurnFoot(props: Props) {
  const { turn, end, view, versions, isLast, isBusy, onVersion, onInspect, onOpen } = props;
  const { problem, attempt } = useProblem();
  const answer = turn.blocks.flatMap((block) =>
    block.kind === "text" && !block.superseded ? [block.text] : [],
  );
  const canRetry = isLast && !isBusy && view.handle.access === "write";
  const fork = async (): Promise<void> => {
    const at = view.facts.turns.get(end.id.replace(/^turn_end\//, ""))?.lastSeq;
    onOpen((await view.handle.fork(at === undefined ? {} : { at })).id);
  };
  return (
    <div class={`block turn-end ${end.status}`} data-block={end.id}>
      <Ending end={end} />
      <div class={isLast || versions !== undefined ? "foot" : "foot on-demand"}>
        {versions === undefined ? null : (
          <Versions versions={versions} of="answer" disabled={isBusy} onChoose={onVersion} />
        )}
        {answer.length === 0 ? null : <CopyButton text={() => answer.join("\n\n")} name="Copy the answer" />}
        {isLast ? (
          <IconButton
            icon="retry"
            name="Retry"
            isOff={!canRetry}
            onClick={() => attempt(() => view.handle.retry().accepted())}
          />
        ) : null}
        <IconButton icon="fork" name="Fork the session here" onClick={() => attempt(fork)} />
        <InspectButton id={end.id} name="Inspect this turn" onInspect={onInspect} />
        <span class="meta">{factsOf(end)}</span>
      </div>
      <Problem problem={problem} />
    </div>
  );
}

function factsOf(end: TurnEndBlock): string {
  const { usage, steps } = end;
  return [
    workedLabel(end),
    `${steps} ${steps === 1 ? "step" : "steps"}`,
    usage.inputTokens + usage.outputTokens === 0
      ? undefined
      : `${compact(usage.inputTokens)} in, ${compact(usage.outputTokens)} out`,
  ]
    .filter((fact) => fact !== undefined)
    .join(" · ");
}

/** How a turn ended that did not complete. */
function Ending({ end }: { readonly end: TurnEndBlock }) {
  const { status, reason, error } = end;
  const after = formatDuration(workedMs(end));
  switch (status) {
    case "completed":
      return null;
    case "cancelled":
      return <p class="ending">Stopped by you after {after}</p>;
    case "interrupted":
      return <p class="ending">Broken off here after {after} · what arrived is kept</p>;
    case "incomplete":
      return (
        <p class="ending warn">
          <Icon name="slash" />
          <span>
            {isLimit(reason) ? "Ended at a limit" : "Ended without a complete answer"}
            {error === undefined ? (reason === undefined ? "" : `: ${reason}`) : `: ${error.message}`}
          </span>
        </p>
      );
    case "failed":
      return (
        <p class="ending bad">
          <Icon name="cross" />
          <span>
            Failed: {error?.message ?? "the turn failed"}{" "}
            {error === undefined ? null : <code>{error.code}</code>}
          </span>
        </p>
      );
    default:
      return status satisfies never;
  }
}
