/** The message input. Typed text is never lost: it is kept until the server has accepted it. */

import { useEffect, useRef, useState } from "preact/hooks";

import { messageOf } from "../../../base/support/index.ts";
import type { SessionView } from "../session-view.ts";
import { useVersion } from "../use-version.ts";
import { Problem } from "./problem.tsx";

export function Composer({ view }: { readonly view: SessionView }) {
  useVersion(view);
  const { handle, busy } = view;
  const key = `draft/${handle.id}`;
  const [text, setText] = useState(() => sessionStorage.getItem(key) ?? "");
  const [problem, setProblem] = useState<string>();
  /** Messages that were sent into the running turn. They are shown here until the log has them. */
  const [steering, setSteering] = useState<readonly { readonly turn: string; readonly words: string }[]>([]);
  const field = useRef<HTMLTextAreaElement>(null);
  // Opening a session focuses the input.
  useEffect(() => field.current?.focus(), [handle]);
  const keep = (value: string): void => {
    setText(value);
    sessionStorage.setItem(key, value);
  };
  const send = async (whenBusy?: "steer"): Promise<void> => {
    const words = text.trim();
    if (words === "") return;
    keep("");
    setProblem(undefined);
    // The server did not accept it: restore the text, unless something else was typed since.
    const restore = (why: string): void => {
      setProblem(why);
      if ((sessionStorage.getItem(key) ?? "") === "") keep(words);
    };
    const turn = handle.send(words, { whenBusy });
    if (whenBusy === "steer") setSteering((before) => [...before, { turn: turn.id, words }]);
    try {
      const { status, steps, error } = await turn.result();
      if (status === "failed" && steps === 0 && error !== undefined) restore(error.message);
    } catch (error) {
      restore(messageOf(error));
    } finally {
      setSteering((before) => before.filter(({ turn: id }) => id !== turn.id));
    }
  };
  const run = (work: () => Promise<unknown>): void => {
    work().catch((error: unknown) => {
      setProblem(messageOf(error));
    });
  };
  const blocked = handle.access !== "write";
  return (
    <form
      class="composer"
      aria-label="Message"
      onSubmit={(event) => {
        event.preventDefault();
        run(send);
      }}
    >
      {handle.interrupted ? (
        <p class="lost" role="status">
          The last turn was interrupted.{" "}
          <button type="button" onClick={() => run(() => handle.resume().result())}>
            Finish it
          </button>
        </p>
      ) : null}
      <Problem text={problem} />
      {steering
        .filter(({ turn }) => !view.facts.has(turn))
        .map(({ turn, words }) => (
          <p key={turn} class="steering" role="status">
            Sent; joins the turn before its next request: {words}
          </p>
        ))}
      <textarea
        ref={field}
        aria-label="Your message"
        placeholder={
          busy
            ? "Enter: sent when this turn ends. Send now: joins it. Esc stops it"
            : "Message (Enter to send, Shift+Enter for a new line)"
        }
        rows={3}
        value={text}
        disabled={blocked}
        onInput={(event) => keep(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
            event.preventDefault();
            run(send);
          }
          if (event.key === "Escape" && busy) run(() => handle.cancel());
        }}
      />
      <div class="composer-buttons">
        {busy ? (
          <button type="button" class="stop" onClick={() => run(() => handle.cancel())}>
            Stop
          </button>
        ) : null}
        {busy ? (
          <button
            type="button"
            title="The message joins the running turn before its next request"
            disabled={blocked || text.trim() === ""}
            onClick={() => run(() => send("steer"))}
          >
            Send now
          </button>
        ) : null}
        <button type="submit" class="primary" disabled={blocked || text.trim() === ""}>
          {busy ? "Queue" : "Send"}
        </button>
      </div>
    </form>
  );
}
