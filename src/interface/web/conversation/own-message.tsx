/** What a person wrote, at the right. Editing it makes another version; the old one stays one arrow away. */

import { useRef, useState } from "preact/hooks";

import type { BlockVersion, UserBlock } from "../../fragments/index.ts";
import { ids } from "../composer/use-draft.ts";
import { focusWhenShown } from "../focus-when-shown.ts";
import { IconButton } from "../look/icon-button.tsx";
import { Problem } from "../look/problem.tsx";
import { pure } from "../pure.tsx";
import type { SessionView } from "../session-view.ts";
import { useProblem } from "../use-problem.ts";
import { CopyButton } from "./copy-button.tsx";
import { useEdit } from "./use-edit.ts";
import { Versions } from "./versions.tsx";

interface Props {
  readonly block: UserBlock;
  readonly view: SessionView;
  readonly versions: readonly BlockVersion[] | undefined;
  readonly isBusy: boolean;
  readonly selected: boolean;
  readonly onVersion: (version: BlockVersion) => void;
}

export function OwnMessage({ block, view, versions, isBusy, selected, onVersion }: Props) {
  const { edit, isOpenedNow, begin, change, end } = useEdit(view, block.seq);
  const canEdit = block.by === "person" && block.steer !== true && view.handle.access === "write";
  return (
    <div class={`block user${selected ? " selected" : ""}`} data-block={block.id}>
      {edit === undefined ? (
        <>
          <h2 class="visually-hidden">{who(block)}</h2>
          <div class="bubble">
            {block.steer === true ? <p class="joined">Sent into the turn</p> : null}
            <OwnWords text={block.text} />
          </div>
          <div class={versions === undefined ? "message-actions on-demand" : "message-actions"}>
            {versions === undefined ? null : (
              <Versions versions={versions} of="message" disabled={isBusy} onChoose={onVersion} />
            )}
            <CopyButton text={() => block.text} name="Copy this message" />
            {canEdit ? (
              <IconButton icon="edit" name="Edit this message" onClick={() => begin(block.text)} />
            ) : null}
          </div>
        </>
      ) : (
        <Editor
          text={edit.text}
          takesFocus={isOpenedNow}
          version={(versions?.length ?? 1) + 1}
          onText={(text) => change({ ...edit, text })}
          onCancel={end}
          onSend={async () => {
            // The answer to an earlier try may have been lost: the same words are the same version.
            const sent =
              edit.sent?.text === edit.text ? edit.sent : { turn: ids.next("tn"), text: edit.text };
            change({ ...edit, sent });
            await view.handle.edit(block.seq, edit.text, { turn: sent.turn }).accepted();
            end();
          }}
        />
      )}
    </div>
  );
}

/** Exactly what was typed; only code between ticks looks like code. */
const OwnWords = pure(({ text }: { readonly text: string }) => (
  <p class="plain">
    {text.length > LONG
      ? text
      : text
          .split(/(`[^`\n]+`)/)
          .map((piece, at) => (at % 2 === 1 ? <code class="mono">{piece.slice(1, -1)}</code> : piece))}
  </p>
));

const LONG = 20_000;

function who({ by, steer }: UserBlock): string {
  if (by !== "person") return "Throughline";
  return steer === true ? "You, into the turn" : "You";
}

interface EditorProps {
  readonly text: string;
  /** False for an edit that an earlier page left behind. */
  readonly takesFocus: boolean;
  readonly version: number;
  readonly onText: (text: string) => void;
  readonly onCancel: () => void;
  readonly onSend: () => Promise<void>;
}

function Editor({ text, takesFocus, version, onText, onCancel, onSend }: EditorProps) {
  const { problem, show } = useProblem();
  const [sending, setSending] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  // The text stays until the server has accepted it.
  const send = async (): Promise<void> => {
    if (text.trim() === "" || sending) return;
    setSending(true);
    try {
      await onSend();
    } catch (error) {
      show(error);
      setSending(false);
    }
  };
  return (
    <form
      ref={form}
      class="card edit"
      aria-label="Edit message"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <textarea
        ref={takesFocus ? focusWhenShown : null}
        aria-label="Edited message"
        rows={Math.min(8, text.split("\n").length + 1)}
        value={text}
        onInput={(event) => onText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") onCancel();
          if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
            event.preventDefault();
            void send();
          }
        }}
      />
      <Problem problem={problem} />
      <div class="card-buttons">
        <span class="meta">The old version stays, one arrow away.</span>
        <span class="space" />
        <button type="button" class="button ghost" onClick={onCancel}>
          Cancel
        </button>
        <button type="submit" class="button primary" disabled={text.trim() === "" || sending}>
          Send as version {version}
        </button>
      </div>
    </form>
  );
}
