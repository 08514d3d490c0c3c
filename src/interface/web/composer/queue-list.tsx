/** The messages that wait, above the text they came from. */

import { Icon } from "../look/icons.tsx";

export interface QueueRow {
  readonly turn: string;
  readonly text: string;
  readonly images: number;
  /** "Next", "Then", "Joins this turn", "Sending". */
  readonly when: string;
  /** Why it cannot be taken back now. */
  readonly stays?: string | undefined;
}

interface Props {
  readonly rows: readonly QueueRow[];
  readonly onTakeBack: (turn: string) => void;
}

export function QueueList({ rows, onTakeBack }: Props) {
  if (rows.length === 0) return null;
  return (
    <ul class="queue" aria-label="Queued messages">
      {rows.map(({ turn, text, images, when, stays }) => (
        <li key={turn}>
          <span class="queue-when">{when}</span>
          <span class="queue-text" title={text}>
            {text === "" ? wordsOf(images) : text}
          </span>
          {text === "" || images === 0 ? null : <span class="meta">{wordsOf(images)}</span>}
          <button
            type="button"
            class="button ghost"
            disabled={stays !== undefined}
            title={stays}
            onClick={() => onTakeBack(turn)}
          >
            <Icon name="back" />
            Take back<span class="visually-hidden">: {text === "" ? wordsOf(images) : text}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

function wordsOf(images: number): string {
  return images === 1 ? "1 image" : `${images} images`;
}
