/**
 * The page before there is a session: one question, the promise, the field and three examples. Sending opens the
 * session; what was typed stays here until it is open.
 */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

import type { RemoteAgent, SessionHandle } from "../../../access/client/index.ts";
import { Icon, type IconName } from "../look/icons.tsx";
import { Problem } from "../look/problem.tsx";
import { isAway } from "../server-link.ts";
import { useAway } from "../use-away.ts";
import { useProblem } from "../use-problem.ts";
import { AwayPanel } from "./away-panel.tsx";
import { firstDraft } from "./drafts.ts";
import { asSent, toSend } from "./edit-draft.ts";
import { MessageFrame } from "./message-frame.tsx";
import { SendButtons } from "./send-buttons.tsx";
import { ids, useDraft } from "./use-draft.ts";

interface Props {
  readonly agent: RemoteAgent;
  /** The session is there, and its draft holds the message on its way: its composer sends it. */
  readonly onOpened: (handle: SessionHandle, words: string) => void;
}

interface Example {
  readonly icon: IconName;
  readonly words: string;
  readonly does: string;
}

/** They fit any folder, and the emulator does what they say too. */
const EXAMPLES: readonly Example[] = [
  {
    icon: "file",
    words: "What is in this folder, and where would you start reading?",
    does: "Looks at names and files. Asks nothing, changes nothing",
  },
  {
    icon: "terminal",
    words: "Run `du -sh *` and tell me what takes up the most space",
    does: "Asks you before it runs the command",
  },
  {
    icon: "edit",
    words: "Write a short overview of this folder to OVERVIEW.md",
    does: "Reads files, and asks you before it writes this one",
  },
];

export function FirstStart({ agent, onOpened }: Props) {
  const draft = useDraft(firstDraft());
  const { value } = draft;
  const { problem, show, clear } = useProblem();
  const [isOpening, setOpening] = useState(false);
  const away = useAway();
  const hasText = toSend(value) !== undefined;
  const canSend = hasText && away === undefined && !isOpening;
  const send = async (): Promise<void> => {
    if (!canSend) return;
    setOpening(true);
    clear();
    // A second try after a lost answer must open the same session.
    const session = value.session ?? ids.next("s");
    draft.change({ session });
    try {
      const handle = await agent.open({ id: session });
      const { text, caret, images } = draft.value; // with what was typed since
      const sent = asSent(value, ids.next("tn"), false);
      draft.moveTo(handle.id, { ...sent, text, caret, images, session: undefined });
      onOpened(handle, value.text.trim());
    } catch (error) {
      if (!isAway(error)) show(error); // the panel says it
    } finally {
      setOpening(false);
    }
  };
  const isEmulator = agent.server.model.startsWith("emulator/");
  return (
    <section class="first-start" aria-labelledby="first-start">
      <div class="first-column">
        <h2 id="first-start">What are we looking at?</h2>
        <p class="promise">Every thought the model has is kept, and goes back to it.</p>
        {away === undefined ? null : (
          <AwayPanel
            away={away}
            kept={{ hasDraft: hasText, unsent: 0, queued: 0, onlyInTab: !draft.isKept }}
          />
        )}
        <Problem problem={problem && { ...problem, text: `${problem.text} Your message is still here.` }} />
        <form
          aria-label="Message"
          onSubmit={(event) => {
            event.preventDefault();
            void send();
          }}
        >
          <MessageFrame
            draft={draft}
            placeholder="Ask about this folder"
            hint={away !== undefined && hasText ? "Draft kept" : isOpening ? "Sending…" : undefined}
            onSend={() => void send()}
            buttons={
              <SendButtons
                busy={false}
                isAway={away !== undefined}
                canSend={canSend}
                hasText={hasText}
                onNow={() => undefined}
                onStop={() => undefined}
              />
            }
          />
        </form>
        <ul class="examples" aria-label="Examples">
          {EXAMPLES.map(({ icon, words, does }) => (
            <li key={words}>
              <button
                type="button"
                onClick={(event) => {
                  draft.change({ text: words, caret: [words.length, words.length] });
                  event.currentTarget.closest("section")?.querySelector("textarea")?.focus();
                }}
              >
                <Icon name={icon} />
                <span>{withCode(words)}</span>
                <span class="does">{does}</span>
                <Icon name="arrow-right" class="go" />
              </button>
            </li>
          ))}
        </ul>
        {isEmulator ? (
          <p class="emulator-note">
            No key is set, so this is the built-in emulator: fixed rules, no model. Set a key of a provider
            and start the server again.
          </p>
        ) : null}
      </div>
    </section>
  );
}

/** Shows what stands between backticks as code. */
function withCode(words: string): ComponentChildren {
  return words.split("`").map((part, index) => (index % 2 === 0 ? part : <code class="mono">{part}</code>));
}
