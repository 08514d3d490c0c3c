/**
 * The message input. Typed text is never lost: it is kept until the server has accepted it, and shown while it waits for
 * the connection.
 */

import { useEffect, useRef, useState } from "preact/hooks";

import { messageOf } from "../../../base/support/index.ts";
import type { SessionView } from "../session-view.ts";
import { useVersion } from "../use-version.ts";
import { Problem } from "./problem.tsx";

interface Sent {
  readonly turn: string;
  readonly words: string;
  /** It joins the running turn. */
  readonly steers: boolean;
}

export function Composer({ view }: { readonly view: SessionView }) {
  useVersion(view);
  const { handle, busy } = view;
  const key = `draft/${handle.id}`;
  const [text, setText] = useState(() => sessionStorage.getItem(key) ?? "");
  const [problem, setProblem] = useState<string>();
  /** Messages whose turn has not ended. What cannot be seen in the log yet is shown here. */
  const [sent, setSent] = useState<readonly Sent[]>([]);
  /** A message that the server may or may not have accepted. Sent again, it is the same turn. */
  const doubtful = useRef<Sent>();
  const field = useRef<HTMLTextAreaElement>(null);
  // Opening a session focuses the input.
  useEffect(() => field.current?.focus(), [handle]);
  const lost = handle.connection === "lost";
  // What could not be done without a connection can be tried again.
  useEffect(() => {
    if (!lost) setProblem(undefined);
  }, [lost]);
  const keep = (value: string): void => {
    setText(value);
    sessionStorage.setItem(key, value);
  };
  const send = async (whenBusy?: "steer"): Promise<void> => {
    const words = text.trim();
    if (words === "") return;
    keep("");
    setProblem(undefined);
    const again = doubtful.current;
    const known = again?.words === words && !view.facts.has(again.turn) ? again.turn : undefined;
    doubtful.current = undefined;
    const turn = handle.send(words, { whenBusy, turn: known });
    const own = { turn: turn.id, words, steers: whenBusy === "steer" };
    setSent((before) => [...before, own]);
    // The server did not accept it: restore the text, unless something else was typed since.
    const restore = (why: string): void => {
      setProblem(why);
      if ((sessionStorage.getItem(key) ?? "") === "") keep(words);
    };
    const restoreUnlessLogged = (why: string): void => {
      if (view.facts.has(own.turn)) return;
      doubtful.current = own;
      restore(why);
    };
    try {
      const { status, steps, error } = await turn.result();
      if (error?.code === "server_unreachable") restoreUnlessLogged(error.message);
      else if (status === "failed" && steps === 0 && error !== undefined) restore(error.message);
    } catch (error) {
      restoreUnlessLogged(messageOf(error));
    } finally {
      setSent((before) => before.filter((one) => one !== own));
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
      {sent
        .filter(({ turn, steers }) => (lost || steers) && !view.facts.has(turn))
        .map(({ turn, words }) => (
          <p key={turn} class="steering" role="status">
            {lost ? "Sent when the connection is back" : "Sent; joins the turn before its next request"}:{" "}
            {words}
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
