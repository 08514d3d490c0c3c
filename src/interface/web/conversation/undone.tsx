/** What once followed the end of the conversation and was undone. It is kept, and one click away. */

import type { BlockVersion } from "../../fragments/index.ts";
import { holds } from "./versions.tsx";

interface Props {
  readonly versions: readonly BlockVersion[];
  readonly disabled: boolean;
  readonly onChoose: (version: BlockVersion) => void;
}

export function Undone({ versions, disabled, onChoose }: Props) {
  const shown = versions.filter(({ shown: isShown }) => !isShown);
  if (shown.length === 0) return null;
  return (
    <div class="undone">
      {shown.map((version) => (
        <p key={version.to} class="note">
          <span>
            Undone: “{version.text}” · {holds(version)}{" "}
            <button
              type="button"
              class="link"
              aria-disabled={disabled}
              onClick={() => (disabled ? undefined : onChoose(version))}
            >
              Bring it back
            </button>
          </span>
        </p>
      ))}
    </div>
  );
}
