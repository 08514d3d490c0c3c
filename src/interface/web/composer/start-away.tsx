/** The page while it cannot reach its server at all: the panel, and the draft of the session in its address. */

import type { Away } from "../use-away.ts";
import { AwayPanel } from "./away-panel.tsx";
import { draftOf, firstDraft } from "./drafts.ts";
import { asEdited, toSend } from "./edit-draft.ts";
import { MessageFrame } from "./message-frame.tsx";
import { SendButtons } from "./send-buttons.tsx";
import { useDraft } from "./use-draft.ts";

interface Props {
  readonly away: Away;
  readonly session: string | undefined;
}

export function StartAway({ away, session }: Props) {
  const draft = useDraft(session === undefined ? firstDraft() : draftOf(session));
  const hasDraft = toSend(draft.value) !== undefined;
  const unsent = draft.value.outgoing.length;
  return (
    <main class="start-away">
      <h1 class="visually-hidden">Throughline</h1>
      <div class="first-column">
        <AwayPanel away={away} kept={{ hasDraft, unsent, queued: 0, onlyInTab: !draft.isKept }} />
        <MessageFrame
          draft={draft}
          placeholder="Message"
          hint={hasDraft ? "Draft kept" : undefined}
          onWords={(text, caret) => draft.change(asEdited(draft.value, text, caret))}
          onSend={() => undefined}
          buttons={
            <SendButtons
              busy={false}
              isAway
              canSend={false}
              hasText={hasDraft}
              onNow={() => undefined}
              onStop={() => undefined}
            />
          }
        />
      </div>
    </main>
  );
}
