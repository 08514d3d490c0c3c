/** Images in the result of a tool. They are blobs next to the log, and are read when they are shown. */

import { useEffect, useState } from "preact/hooks";

import type { ToolBlock } from "../../fragments/index.ts";
import type { SessionView } from "../session-view.ts";

type Images = NonNullable<NonNullable<ToolBlock["result"]>["images"]>;

/** Formats that cannot carry a script. */
const SHOWN: ReadonlySet<string> = new Set(["image/gif", "image/jpeg", "image/png", "image/webp"]);

export function ResultImages({ images, view }: { readonly images: Images; readonly view: SessionView }) {
  return (
    <>
      {images.map((image) =>
        SHOWN.has(image.mediaType) ? <ResultImage key={image.blob} image={image} view={view} /> : null,
      )}
    </>
  );
}

function ResultImage({ image, view }: { readonly image: Images[number]; readonly view: SessionView }) {
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    let made: string | undefined;
    let stale = false;
    const load = async (): Promise<void> => {
      const bytes = await view.handle.blob(image.blob);
      if (stale || bytes === undefined) return;
      made = URL.createObjectURL(new Blob([new Uint8Array(bytes)], { type: image.mediaType }));
      setAddress(made);
    };
    load().catch(() => undefined); // the text of the result names the image too
    return () => {
      stale = true;
      if (made !== undefined) URL.revokeObjectURL(made);
    };
  }, [view, image.blob]);
  return address === undefined ? null : (
    <img class="result-image" src={address} alt="Image that the tool returned" />
  );
}
