/** Work that a command leaves for its end, however it ends: a store gives up its connections and its place among the nodes. */

const open = new Set<() => Promise<void>>();

export function atEnd(work: () => Promise<void>): void {
  open.add(work);
}

/** A failure here changes nothing for the user: the lease of a node that cannot say goodbye runs out. */
export async function endCommand(): Promise<void> {
  const works = [...open];
  open.clear();
  await Promise.all(works.map((work) => work().catch(() => undefined)));
}
