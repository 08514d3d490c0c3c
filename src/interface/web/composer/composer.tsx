/**
 * The message input of a session. Nothing typed is lost: the field is cleared only when the server has acknowledged the
 * message, and what was not acknowledged is sent again under the same turn.
 */

import { useEffect, useMemo, useRef } from "preact/hooks";

import type { RemoteAgent } from "../../../access/client/index.ts";
import { Icon } from "../look/icons.tsx";
import { Problem } from "../look/problem.tsx";
import type { SessionView } from "../session-view.ts";
import { type Away, useAway } from "../use-away.ts";
import { useProblem } from "../use-problem.ts";
import { useVersion } from "../use-version.ts";
import { AwayPanel } from "./away-panel.tsx";
import { draftOf } from "./drafts.ts";
import { afterSent, asEdited, asSent, inField, toSend, withBefore } from "./edit-draft.ts";
import { dropImages } from "./kept-images.ts";
import { MessageFrame } from "./message-frame.tsx";
import { QueueList } from "./queue-list.tsx";
import { queueRows, takenBack } from "./queue.ts";
import { SendButtons } from "./send-buttons.tsx";
import { Sender } from "./sender.ts";
import { ids, useDraft } from "./use-draft.ts";

/** What the next request carries, in words, and whether that is everything. */
export interface NextRequest {
  readonly words: string;
  readonly allGo: boolean;
}

interface Props {
  readonly view: SessionView;
  readonly agent?: RemoteAgent | undefined;
  readonly nextRequest?: NextRequest | undefined;
  readonly onNextRequest?: (() => void) | undefined;
}

/** How long a message may be on its way in another tab. */
const ORPHAN_MS = 5000;

export function Composer({ view, nextRequest, onNextRequest }: Props) {
  useVersion(view);
  const { handle, busy } = view;
  const draft = useDraft(draftOf(handle.id));
  const { value } = draft;
  const { problem, show, clear, attempt } = useProblem();
  const away = useAway(handle);
  const back = useBack(away);
  const blocked = handle.access !== "write";
  const sender = useMemo(
    () =>
      new Sender(handle, draft, ({ entry, refused }) => {
        if (refused === undefined) {
          dropImages(entry.images);
          draft.change(afterSent(draft.value, entry));
          return;
        }
        show(refused);
        if (!entry.inField) draft.change(withBefore(draft.value, entry));
      }),
    [handle, draft],
  );
  useEffect(() => {
    sender.flush(); // what an earlier page left behind
    return () => sender.close();
  }, [sender]);
  useEffect(() => {
    // Another tab began to send these, and may be gone by now.
    if (value.outgoing.every(({ turn }) => draft.isSending(turn))) return undefined;
    const timer = setTimeout(() => sender.flush(), ORPHAN_MS);
    return () => clearTimeout(timer);
  }, [value.outgoing, sender]);
  const hasText = toSend(value) !== undefined;
  const isReady = !blocked && away === undefined && hasText;
  // Each of these reads the draft itself: keys can be faster than the next draw.
  const send = (steers: boolean): void => {
    const now = draft.value;
    if (blocked || away !== undefined || toSend(now) === undefined) return;
    clear();
    const { doubtful } = now;
    // Taken back and sent unchanged, it is the same message. The server may have it already.
    const isSame = doubtful?.text === now.text && now.images.length === 0;
    const turn =
      doubtful !== undefined && isSame && !isKnown(view, doubtful.turn) ? doubtful.turn : ids.next("tn");
    draft.change(asSent(now, turn, steers));
    sender.flush();
  };
  const words = (text: string, caret: readonly [number, number]): void => {
    if (away === undefined) return draft.change({ text, caret });
    const sent = inField(draft.value);
    draft.change(asEdited(draft.value, text, caret));
    if (sent !== undefined) sender.takeBack(sent.turn);
  };
  const takeBack = async (turn: string): Promise<void> => {
    const own = draft.value.outgoing.find((one) => one.turn === turn);
    if (own === undefined) {
      const taken = await takenBack(await handle.withdraw(turn));
      return draft.change(withBefore(draft.value, taken));
    }
    sender.takeBack(turn);
    draft.change({ ...withBefore(draft.value, own), doubtful: { turn, text: own.text } });
  };
  const stop = (): void => {
    if (busy && away === undefined) attempt(() => handle.cancel());
  };
  const rows = queueRows(value, handle.queued, away !== undefined);
  const isSending = inField(value) !== undefined;
  const hint = hintOf({
    away,
    busy,
    isSending,
    hasText,
    isEmpty: value.text === "" && value.images.length === 0,
  });
  return (
    <form
      class="dock"
      aria-label="Message"
      onSubmit={(event) => {
        event.preventDefault();
        send(false);
      }}
    >
      <div class="dock-column">
        {away === undefined ? null : (
          <AwayPanel
            away={away}
            kept={{
              lastSeq: handle.lastSeq,
              hasDraft: hasText,
              unsent: value.outgoing.length,
              queued: handle.queued.length,
              onlyInTab: !draft.isKept,
            }}
          />
        )}
        {handle.interrupted && away === undefined ? (
          <p class="interrupted" role="status">
            The last turn was interrupted.{" "}
            <button type="button" class="link" onClick={() => attempt(() => handle.resume().accepted())}>
              Finish it
            </button>
          </p>
        ) : null}
        <Problem problem={problem} />
        <MessageFrame
          draft={draft}
          placeholder={placeholderOf(blocked, busy)}
          isBlocked={blocked}
          queue={<QueueList rows={rows} onTakeBack={(turn) => attempt(() => takeBack(turn))} />}
          hint={blocked && away === undefined && hasText ? ONLY_READ : hint}
          isHintOfKeys={away === undefined && !isSending && !blocked}
          isSmall={!busy && rows.length === 0 && value.images.length === 0 && away === undefined}
          onWords={words}
          onSend={({ now }) => send(now && busy)}
          onStop={stop}
          buttons={
            <SendButtons
              busy={busy}
              isAway={away !== undefined}
              canSend={isReady}
              hasText={hasText}
              onNow={() => send(true)}
              onStop={stop}
            />
          }
        />
        <div class="next-request">
          {nextRequest === undefined || away !== undefined ? null : (
            <button type="button" data-all={nextRequest.allGo} onClick={onNextRequest}>
              <Icon name={nextRequest.allGo ? "check" : "slash"} small />
              {nextRequest.words}
            </button>
          )}
        </div>
        <p class="visually-hidden" role="status">
          {back}
        </p>
      </div>
    </form>
  );
}

function isKnown({ facts, handle }: SessionView, turn: string): boolean {
  return facts.has(turn) || handle.queued.some((one) => one.turn === turn);
}

/** One sentence when the server is back, until it is away again. */
function useBack(away: Away | undefined): string {
  const wasAway = useRef(false);
  if (away !== undefined) wasAway.current = true;
  return away === undefined && wasAway.current ? "The server is back. Nothing was lost." : "";
}

/** Another process writes it, or this browser may not. */
const ONLY_READ = "This session can only be read here";

function placeholderOf(blocked: boolean, busy: boolean): string {
  if (blocked) return ONLY_READ;
  return busy ? "Goes out when this turn has ended" : "Message";
}

interface HintParts {
  readonly away: Away | undefined;
  readonly busy: boolean;
  readonly isSending: boolean;
  readonly hasText: boolean;
  readonly isEmpty: boolean;
}

function hintOf({ away, busy, isSending, hasText, isEmpty }: HintParts): string | undefined {
  if (away !== undefined && isSending) return "Goes out when the server is back";
  if (away !== undefined) return isEmpty ? undefined : "Draft kept";
  if (isSending && !hasText) return "Sending…";
  if (!busy) return undefined;
  return hasText ? "Enter queues" : "Enter queues, Esc stops";
}
