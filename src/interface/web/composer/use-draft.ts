/** A draft as the components see it: its value, and the changes that a person makes to it. */

import { useEffect, useMemo, useState } from "preact/hooks";

import { createIdSource, messageOf } from "../../../base/support/index.ts";
import type { DraftImage } from "./draft-value.ts";
import type { Draft } from "./drafts.ts";
import { attachProblem, imageTypeOf } from "./image-files.ts";
import { dropImages, keepImage } from "./kept-images.ts";

export interface Attaching {
  /** What is wrong with a file, or with keeping it. */
  readonly problem: string | undefined;
  readonly add: (files: readonly File[]) => void;
  readonly remove: (image: DraftImage) => void;
}

export const ids = createIdSource();

/** Redraws with every change of the draft. */
export function useDraft(draft: Draft): Draft {
  const [, draw] = useState(0);
  useEffect(() => draft.subscribe(() => draw((count) => count + 1)), [draft]);
  return draft;
}

export function useAttaching(draft: Draft): Attaching {
  const [problem, setProblem] = useState<string>();
  const actions = useMemo(() => {
    const add = async (files: readonly File[]): Promise<void> => {
      setProblem(undefined);
      for (const file of files) {
        const why = await attachProblem(file, draft.value.images);
        if (why !== undefined) {
          setProblem(why);
          continue;
        }
        const mediaType = (await imageTypeOf(file)) ?? "";
        const id = ids.next("im");
        // First the bytes: another tab shows the image as soon as the draft names it.
        const isKept = await keepImage(id, new Blob([file], { type: mediaType }));
        const image = { id, name: file.name, mediaType, bytes: file.size };
        draft.change({ images: [...draft.value.images, image] });
        if (!isKept)
          setProblem("The image is kept only while this tab is open: this browser has no room for it.");
      }
    };
    return {
      add: (files: readonly File[]) => {
        add(files).catch((error: unknown) => setProblem(messageOf(error)));
      },
      remove: (image: DraftImage) => {
        setProblem(undefined);
        draft.change({ images: draft.value.images.filter(({ id }) => id !== image.id) });
        dropImages([image]);
      },
    };
  }, [draft]);
  return { problem, ...actions };
}
