/** The buttons at the end of the frame: send, queue, join the turn, stop. */

import { IconButton } from "../look/icon-button.tsx";
import { Icon } from "../look/icons.tsx";

interface Props {
  readonly busy: boolean;
  readonly isAway: boolean;
  readonly canSend: boolean;
  readonly hasText: boolean;
  readonly onNow: () => void;
  readonly onStop: () => void;
}

export function SendButtons({ busy, isAway, canSend, hasText, onNow, onStop }: Props) {
  if (busy && !hasText && !isAway)
    return (
      <button type="button" class="send stop" aria-label="Stop (Esc)" title="Stop (Esc)" onClick={onStop}>
        <Icon name="stop" />
      </button>
    );
  const label = isAway ? "Send, once the server is back" : busy ? "Queue" : "Send";
  return (
    <>
      {busy && !isAway ? (
        <>
          <button
            type="button"
            class="button ghost"
            title="Joins this turn before its next request (Ctrl+Enter)"
            disabled={!canSend}
            onClick={onNow}
          >
            Send now
          </button>
          <IconButton icon="stop" name="Stop (Esc)" onClick={onStop} />
        </>
      ) : null}
      <button type="submit" class="send" aria-label={label} title={label} disabled={!canSend}>
        <Icon name="arrow-up" />
      </button>
    </>
  );
}
