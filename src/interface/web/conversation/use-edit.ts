/** The edit of a message in its place. It is part of the session's draft, so that a reload or an absent server costs no word. */

import { useEffect, useState } from "preact/hooks";

import type { DraftEdit } from "../composer/draft-value.ts";
import { draftOf } from "../composer/drafts.ts";
import type { SessionView } from "../session-view.ts";

interface Editing {
  readonly edit: DraftEdit | undefined;
  /** False if an earlier page left it behind. */
  readonly isOpenedNow: boolean;
  readonly begin: (text: string) => void;
  readonly change: (edit: DraftEdit) => void;
  readonly end: () => void;
}

/** Does not redraw with the draft: a long session has many messages, and a draft changes with every key. */
export function useEdit({ handle, facts }: SessionView, seq: number): Editing {
  const draft = draftOf(handle.id);
  const [edit, setEdit] = useState(() => draft.value.edits.find((one) => one.seq === seq));
  const [isOpenedNow, setOpenedNow] = useState(false);
  const keep = (next: DraftEdit | undefined): void => {
    setEdit(next);
    const others = draft.value.edits.filter((one) => one.seq !== seq);
    draft.change({ edits: next === undefined ? others : [...others, next] });
  };
  // The server has it, and an earlier page did not hear so.
  const isSent = edit?.sent !== undefined && edit.sent.text === edit.text && facts.has(edit.sent.turn);
  useEffect(() => {
    if (isSent) keep(undefined);
  }, [isSent]);
  return {
    edit: isSent ? undefined : edit,
    isOpenedNow,
    begin: (text) => {
      setOpenedNow(true);
      keep({ seq, text });
    },
    change: keep,
    end: () => keep(undefined),
  };
}
