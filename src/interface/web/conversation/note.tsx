/** What happened between turns and requests, in one quiet line. */

import { useState } from "preact/hooks";

import { formatDuration, type NoticeBlock } from "../../fragments/index.ts";
import { useNow } from "../use-now.ts";

export function Note({ block }: { readonly block: NoticeBlock }) {
  const [since] = useState(() => performance.now());
  const { waitMs } = block;
  const now = useNow(waitMs !== undefined);
  const left = waitMs === undefined ? 0 : Math.max(0, waitMs - (now - since));
  return (
    <p class="block note" data-block={block.id}>
      <span>
        {block.text}
        {waitMs === undefined ? null : (
          <span class="num">{left < 1000 ? " · now" : ` · ${formatDuration(left)} left`}</span>
        )}
      </span>
    </p>
  );
}
