/** The images of a draft, each with a button that removes it. */

import { useEffect, useState } from "preact/hooks";

import { Icon } from "../look/icons.tsx";
import type { DraftImage } from "./draft-value.ts";
import { addressOf } from "./kept-images.ts";

interface Props {
  readonly images: readonly DraftImage[];
  readonly onRemove: (image: DraftImage) => void;
}

export function DraftImages({ images, onRemove }: Props) {
  if (images.length === 0) return null;
  return (
    <ul class="draft-images" aria-label="Attached images">
      {images.map((image) => (
        <li key={image.id}>
          <Thumbnail image={image} />
          <button
            type="button"
            class="icon-button"
            aria-label={`Remove ${image.name}`}
            title={`Remove ${image.name}`}
            onClick={() => onRemove(image)}
          >
            <Icon name="cross" small />
          </button>
        </li>
      ))}
    </ul>
  );
}

function Thumbnail({ image }: { readonly image: DraftImage }) {
  const [address, setAddress] = useState<string | null>();
  useEffect(() => {
    let isGone = false;
    const load = async (): Promise<void> => {
      const found = await addressOf(image);
      if (!isGone) setAddress(found ?? null);
    };
    void load();
    return () => {
      isGone = true;
    };
  }, [image.id]);
  if (typeof address === "string") return <img src={address} alt={image.name} />;
  return <span class="meta">{address === null ? "This image is gone from the browser" : image.name}</span>;
}
