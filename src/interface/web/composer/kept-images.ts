/**
 * The bytes of attached images, kept in the browser until their message is acknowledged. They are too large for the
 * storage of drafts. Where the browser keeps nothing, they live as long as the tab.
 */

import type { DraftImage } from "./draft-value.ts";

const DATABASE = "throughline";
const TABLE = "images";

const inTab = new Map<string, Blob>();
const addresses = new Map<string, string>();

/** Resolves to whether the image would survive a reload. */
export async function keepImage(id: string, image: Blob): Promise<boolean> {
  inTab.set(id, image);
  try {
    const bytes = await image.arrayBuffer();
    await inTable("readwrite", (table) => table.put({ type: image.type, bytes }, id));
    return true;
  } catch {
    return false;
  }
}

export async function keptImage({ id, mediaType }: DraftImage): Promise<Blob | undefined> {
  const known = inTab.get(id);
  if (known !== undefined) return known;
  try {
    const kept = (await inTable("readonly", (table) => table.get(id))) as
      | { readonly bytes: ArrayBuffer }
      | undefined;
    if (kept === undefined) return undefined;
    const image = new Blob([kept.bytes], { type: mediaType });
    inTab.set(id, image);
    return image;
  } catch {
    return undefined;
  }
}

/** An address under which this page alone can show the image. Undefined until it is read, and if it is gone. */
export async function addressOf(image: DraftImage): Promise<string | undefined> {
  const bytes = await keptImage(image);
  if (bytes === undefined) return undefined;
  const address = addresses.get(image.id) ?? URL.createObjectURL(bytes);
  addresses.set(image.id, address);
  return address;
}

export function dropImages(images: readonly DraftImage[]): void {
  for (const { id } of images) {
    inTab.delete(id);
    const address = addresses.get(id);
    if (address !== undefined) URL.revokeObjectURL(address);
    addresses.delete(id);
    inTable("readwrite", (table) => table.delete(id)).catch(() => undefined);
  }
}

let opened: Promise<IDBDatabase> | undefined;

function database(): Promise<IDBDatabase> {
  opened ??= new Promise<IDBDatabase>((resolve, reject) => {
    const opening = indexedDB.open(DATABASE, 1);
    opening.addEventListener("upgradeneeded", () => opening.result.createObjectStore(TABLE));
    opening.addEventListener("success", () => resolve(opening.result));
    opening.addEventListener("error", () => reject(opening.error as Error));
    opening.addEventListener("blocked", () => reject(new Error("blocked")));
  });
  return opened;
}

async function inTable<T>(
  mode: IDBTransactionMode,
  work: (table: IDBObjectStore) => IDBRequest<T>,
): Promise<T> {
  const transaction = (await database()).transaction(TABLE, mode);
  const request = work(transaction.objectStore(TABLE));
  await new Promise<void>((resolve, reject) => {
    transaction.addEventListener("complete", () => resolve());
    transaction.addEventListener("abort", () => reject(transaction.error as Error));
  });
  return request.result;
}
