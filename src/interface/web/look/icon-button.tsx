/** A button that is an icon. Its name is also its tooltip. */

import { Icon, type IconName } from "./icons.tsx";

interface Props {
  readonly icon: IconName;
  readonly name: string;
  /** If it says more than the name, such as a key. */
  readonly title?: string | undefined;
  readonly class?: string | undefined;
  readonly pressed?: boolean | undefined;
  /** It keeps the focus of whoever uses it, so it is never disabled for the browser. */
  readonly isOff?: boolean | undefined;
  readonly onClick: () => void;
}

export function IconButton({ icon, name, title = name, class: more = "", pressed, isOff, onClick }: Props) {
  return (
    <button
      type="button"
      class={more === "" ? "icon-button" : `icon-button ${more}`}
      aria-label={name}
      title={title}
      aria-pressed={pressed}
      aria-disabled={isOff}
      onClick={() => {
        if (isOff !== true) onClick();
      }}
    >
      <Icon name={icon} />
    </button>
  );
}
