/** Opens the inspector on a block. */

import { IconButton } from "../look/icon-button.tsx";

interface Props {
  readonly id: string;
  readonly name: string;
  readonly onInspect: (id: string) => void;
}

export function InspectButton({ id, name, onInspect }: Props) {
  return <IconButton icon="inspector" name={name} onClick={() => onInspect(id)} />;
}
