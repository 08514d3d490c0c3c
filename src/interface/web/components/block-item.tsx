/** Draws one block by its kind. Whether it is unfolded is state of this view only (law 9). */

import { useState } from "preact/hooks";

import { unmistakable, unmistakableLine } from "../../../base/support/index.ts";
import {
  type Block,
  formatDuration,
  type NoticeBlock,
  type ReasoningBlock,
  reasoningLabel,
  toolLabel,
  type TextBlock,
  type ToolBlock,
  type TurnEndBlock,
  type UserBlock,
} from "../../fragments/index.ts";
import { compact } from "../numbers.ts";
import type { SessionView } from "../session-view.ts";
import { useNow } from "../use-now.ts";
import { useToggle } from "../use-toggle.ts";
import { Asked, Elicitation } from "./elicitation.tsx";
import { Markdown } from "./markdown.tsx";
import { Permission } from "./permission.tsx";

export function BlockItem({ block, view }: { readonly block: Block; readonly view: SessionView }) {
  switch (block.kind) {
    case "user":
      return <User block={block} view={view} />;
    case "reasoning":
      return <Reasoning block={block} view={view} />;
    case "text":
      return <Text block={block} />;
    case "tool":
      return <Tool block={block} view={view} />;
    case "notice":
      return <Notice block={block} />;
    case "turn_end":
      return <TurnEnd block={block} />;
    default:
      return block satisfies never;
  }
}

function User({ block, view }: { readonly block: UserBlock; readonly view: SessionView }) {
  const [draft, setDraft] = useState<string>();
  if (draft !== undefined) {
    return (
      <form
        class="edit"
        aria-label="Edit message"
        onSubmit={(event) => {
          event.preventDefault();
          setDraft(undefined);
          void view.handle.edit(block.seq, draft).result();
        }}
      >
        <textarea
          aria-label="Edited message"
          value={draft}
          onInput={(event) => setDraft(event.currentTarget.value)}
        />
        <button type="submit" class="primary">
          Send on a new branch
        </button>
        <button type="button" onClick={() => setDraft(undefined)}>
          Cancel
        </button>
      </form>
    );
  }
  return (
    <div class="bubble">
      <p class="who">
        {block.by === "person" ? (block.steer === true ? "You, into the turn" : "You") : "Throughline"}
      </p>
      <p class="plain">{block.text}</p>
      {block.by === "person" && view.handle.access === "write" ? (
        <button type="button" class="quiet" onClick={() => setDraft(block.text)}>
          Edit
        </button>
      ) : null}
    </div>
  );
}

function Reasoning({ block, view }: { readonly block: ReasoningBlock; readonly view: SessionView }) {
  const [open, setOpen] = useToggle(view.handle.id, block.id);
  const last = block.parts.length - 1;
  return (
    <details
      open={open}
      class={block.generating ? "reasoning generating" : "reasoning"}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>
        {block.generating ? <span class="dot" aria-hidden="true" /> : null}
        <span>{reasoningLabel(block)}</span>
      </summary>
      {block.parts.length === 0 ? (
        <p class="empty">
          {block.generating ? "Nothing to read yet." : "The model gave no summary of this reasoning."}
        </p>
      ) : null}
      {block.parts.map((part, index) =>
        block.generating && index < last ? (
          <p key={index} class="ticked">
            ✓ {part.title ?? "Thought"}
          </p>
        ) : (
          <section key={index}>
            {part.title === undefined ? null : <h3>{part.title}</h3>}
            <Markdown text={part.body} />
          </section>
        ),
      )}
    </details>
  );
}

function Text({ block }: { readonly block: TextBlock }) {
  return (
    <div class="answer">
      <Markdown text={block.text} />
      {block.cut ? <p class="cut">interrupted</p> : null}
    </div>
  );
}

function Tool({ block, view }: { readonly block: ToolBlock; readonly view: SessionView }) {
  const [open, setOpen] = useToggle(view.handle.id, block.id);
  const question = block.permission?.question;
  const asked = block.elicitations ?? [];
  const state =
    block.result?.status ??
    (asked.some(({ waits }) => waits)
      ? "asks a question"
      : question !== undefined
        ? "asks for permission"
        : block.generating
          ? "running"
          : "not finished");
  const time = block.result?.durationMs === undefined ? "" : ` · ${formatDuration(block.result.durationMs)}`;
  return (
    <>
      <details open={open} class="tool" onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          {block.generating ? <span class="dot" aria-hidden="true" /> : null}
          <span>
            <code>{unmistakableLine(toolLabel(block))}</code>{" "}
            <span class="arguments">{shortened(unmistakable(block.arguments))}</span> · {state}
            {time}
          </span>
        </summary>
        <h3>Arguments</h3>
        <pre tabIndex={0}>{unmistakable(block.arguments)}</pre>
        {block.written === undefined ? null : (
          <>
            <h3>Repaired; the model wrote</h3>
            <pre tabIndex={0}>{unmistakable(block.written)}</pre>
          </>
        )}
        {asked.map((one) => (
          <Asked key={one.requestId} question={one} />
        ))}
        {block.progress === "" ? null : <pre tabIndex={0}>{block.progress}</pre>}
        {block.result === undefined ? null : (
          <>
            <h3>Result</h3>
            <pre tabIndex={0}>{block.result.text}</pre>
            {block.result.forPerson === undefined ? null : (
              <>
                <h3>For you, not sent to the model</h3>
                <pre tabIndex={0}>{unmistakable(block.result.forPerson)}</pre>
              </>
            )}
            {(block.result.sessions ?? []).map((id) => (
              <p key={id} class="notice-line">
                Sub-agent: <a href={`/s/${encodeURIComponent(id)}`}>session {id}</a>
              </p>
            ))}
          </>
        )}
      </details>
      {block.permission !== undefined && question?.waits === true ? (
        <Permission block={block} requestId={block.permission.requestId} question={question} view={view} />
      ) : null}
      {asked.map((one) =>
        one.waits ? <Elicitation key={one.requestId} question={one} view={view} /> : null,
      )}
      {question?.waits === false ? (
        <p class="notice-line">
          This question was open when the turn was interrupted. Finish the turn to answer it.
        </p>
      ) : null}
    </>
  );
}

function Notice({ block }: { readonly block: NoticeBlock }) {
  const [since] = useState(() => performance.now());
  const { waitMs } = block;
  const now = useNow(waitMs !== undefined);
  const left = waitMs === undefined ? 0 : Math.max(0, waitMs - (now - since));
  return (
    <p class="notice-line">
      {block.text}
      {waitMs === undefined ? null : (
        <span class="countdown">{left < 1000 ? " · now" : ` · ${formatDuration(left)} left`}</span>
      )}
    </p>
  );
}

function TurnEnd({ block }: { readonly block: TurnEndBlock }) {
  const { usage } = block;
  const facts = [
    block.status === "completed"
      ? undefined
      : `${block.status}${block.reason === undefined ? "" : `: ${block.reason}`}`,
    `${block.steps} ${block.steps === 1 ? "step" : "steps"}`,
    formatDuration(block.durationMs),
    `↑${compact(usage.inputTokens)} ↓${compact(usage.outputTokens)}`,
    usage.reasoningTokens === 0 ? undefined : `${compact(usage.reasoningTokens)} reasoning`,
  ].filter((fact) => fact !== undefined);
  return (
    <div class={`turn-line ${block.status}`}>
      <p>{facts.join(" · ")}</p>
      {block.error === undefined ? null : (
        <p class="problem">
          {block.error.code}: {block.error.message}
        </p>
      )}
    </div>
  );
}

function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, " ");
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}
