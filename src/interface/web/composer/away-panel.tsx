/**
 * Says over the field that the server is away: what is saved, what is kept here, and what the person can do. Nothing is
 * an alarm, because nothing is lost.
 */

import { useState } from "preact/hooks";

import { Icon } from "../look/icons.tsx";
import { serverLink } from "../server-link.ts";
import { type Away, useSecondsToTry } from "../use-away.ts";

export interface Kept {
  /** The last event that the server saved and this page shows. */
  readonly lastSeq?: number | undefined;
  readonly hasDraft: boolean;
  /** Messages that this browser sends when the server is back. */
  readonly unsent: number;
  /** Messages that the server has saved. */
  readonly queued: number;
  /** The browser keeps nothing beyond the tab. */
  readonly onlyInTab: boolean;
}

export function AwayPanel({ away, kept }: { readonly away: Away; readonly kept: Kept }) {
  const [link, setLink] = useState("");
  const [problem, setProblem] = useState<string>();
  const open = async (): Promise<void> => {
    setProblem(await serverLink.login(link));
  };
  const isLogin = away === "login";
  return (
    <section class="away" aria-label={isLogin ? "The server wants a new link" : "The server is away"}>
      <Icon name="away" />
      <div>
        <h2>{isLogin ? "Open the new link" : "The server is away"}</h2>
        <p>
          <span role="status">
            {isLogin ? `${NEW_LINK} ` : ""}
            {keptWords(kept)}
          </span>{" "}
          {isLogin ? null : <NextTry />}
        </p>
      </div>
      <button type="button" class="button" onClick={() => void serverLink.tryNow()}>
        Try now
      </button>
      <form
        class="away-link"
        onSubmit={(event) => {
          event.preventDefault();
          void open();
        }}
      >
        <input
          class="field"
          type="text"
          inputMode="url"
          autocomplete="off"
          spellcheck={false}
          aria-label="New link"
          placeholder={isLogin ? "Paste the new link here" : "Restarted with a new link? Paste it here"}
          value={link}
          onInput={(event) => {
            setLink(event.currentTarget.value);
            setProblem(undefined);
          }}
        />
        <button type="submit" class="button" disabled={link.trim() === ""}>
          Open
        </button>
        <p class="away-problem" role="status">
          {problem}
        </p>
      </form>
    </section>
  );
}

const NEW_LINK =
  "The server was started again and does not know this browser yet. Open the link it printed, here or in another tab.";

/** Not in the live region: it changes every second. */
function NextTry() {
  const seconds = useSecondsToTry();
  return <span class="num">{seconds === undefined ? "Trying now." : `Trying again in ${seconds}s.`}</span>;
}

function keptWords({ lastSeq = -1, hasDraft, unsent, queued, onlyInTab }: Kept): string {
  const place = onlyInTab ? "this tab, so leave it open" : "this browser";
  const messages = unsent === 1 ? "1 message" : `${unsent} messages`;
  const goOut = unsent === 1 ? "goes out once" : "go out once each";
  return [
    lastSeq < 0 ? undefined : `All you see is saved, up to event ${lastSeq}.`,
    queued === 0
      ? undefined
      : queued === 1
        ? "1 queued message is saved too."
        : `${queued} queued messages are saved too.`,
    hasDraft && unsent === 0 ? `Your draft stays in ${place}.` : undefined,
    hasDraft && unsent > 0
      ? `Your draft and ${messages} stay in ${place}; the ${unsent === 1 ? "message" : "messages"} ${goOut}.`
      : undefined,
    !hasDraft && unsent > 0
      ? `${messages} ${unsent === 1 ? "stays" : "stay"} in ${place} and ${goOut}.`
      : undefined,
  ]
    .filter((one) => one !== undefined)
    .join(" ");
}
