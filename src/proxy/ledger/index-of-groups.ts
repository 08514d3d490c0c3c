/** The index of a ledger: hashes only, all in memory, so that finding never waits for a disk. */

import { addAll } from "../../base/support/index.ts";
import type { Keys } from "../marks/index.ts";
import type { Asked, Group, LedgerRecord, Override, Pin } from "./records.ts";

/** More groups than this that begin alike are found by key, not one by one. */
const MANY = 32;

type KeyName = keyof Keys | "parent";

/** Groups that begin with the same words. */
export class Alike {
  readonly groups: Group[] = [];
  readonly #by = new Map<KeyName, Map<string, Group[]>>();

  add(group: Group): void {
    this.groups.push(group);
    for (const [name, map] of this.#by) put(map, keyOf(group, name), group);
  }

  remove(group: Group): void {
    this.groups.splice(this.groups.indexOf(group), 1);
    this.#by.clear();
  }

  /** Those with this key. An empty key finds nothing. */
  with(name: KeyName, key: string): readonly Group[] {
    if (key === "") return [];
    if (this.groups.length <= MANY) return this.groups.filter((group) => keyOf(group, name) === key);
    let map = this.#by.get(name);
    if (map === undefined) {
      map = new Map();
      for (const group of this.groups) put(map, keyOf(group, name), group);
      this.#by.set(name, map);
    }
    return map.get(key) ?? [];
  }
}

function keyOf(group: Group | Asked, name: KeyName): string {
  return name === "parent" ? (group.parent ?? "") : group.keys[name];
}

function put<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

const NONE = new Alike();
const OPEN_KEYS: readonly KeyName[] = ["loose", "spine", "parent"];

export class GroupIndex {
  readonly #groups = new Map<string, Group>();
  readonly #alike = new Map<string, Alike>();
  /** By the hash of an id of a member or a thought, or of a payload or signature. */
  readonly #byId = new Map<string, Group[]>();
  readonly #byResponse = new Map<string, Group>();
  /** By how they begin, whoever they were issued to. */
  readonly #anywhere = new Map<string, Group[]>();
  readonly #asked = new Map<string, Asked>();
  readonly #open = new Map<string, Set<string>>();
  readonly #pins = new Map<string, string>();
  readonly #overrides = new Map<string, Set<string>>();
  readonly #overridden = new Set<string>();
  readonly #accounts = new Map<string, string>();
  readonly #used = new Map<string, number>();

  get size(): number {
    return this.#groups.size;
  }

  apply(record: LedgerRecord): void {
    switch (record.type) {
      case "group":
        this.#close(record.id);
        this.#add(record);
        return;
      case "asked":
        // Segments are read in any order.
        if (!this.#groups.has(record.id)) this.#ask(record);
        return;
      case "withdrawn":
        this.#close(record.id);
        return;
      case "pin":
        this.#pin(record);
        return;
      case "override":
        this.#override(record);
        return;
      case "account":
        this.#accounts.set(record.credential, record.organisation);
        return;
      case "used":
        this.#used.set(record.id, Math.max(record.at, this.#used.get(record.id) ?? 0));
        return;
      case "exchange":
        return;
    }
  }

  group(id: string): Group | undefined {
    return this.#groups.get(id);
  }

  groups(): IterableIterator<Group> {
    return this.#groups.values();
  }

  alike(scope: string, opening: string): Alike {
    return this.#alike.get(scope + opening) ?? NONE;
  }

  /** Whether such an answer was issued to somebody else after the same words. */
  isElsewhere(scope: string, opening: string, { loose, spine }: Keys): boolean {
    return (this.#anywhere.get(opening) ?? []).some(
      (group) =>
        group.scope !== scope && (group.keys.loose === loose || (spine !== "" && group.keys.spine === spine)),
    );
  }

  /** The groups that an id or a payload was issued in. */
  issuedWith(scope: string, hash: string): readonly Group[] {
    return this.#byId.get(scope + hash) ?? [];
  }

  ofResponse(scope: string, hash: string): Group | undefined {
    return this.#byResponse.get(scope + hash);
  }

  /** Whether an unknown answer may stand at a place with this key. */
  isOpen(scope: string, name: KeyName, key: string): boolean {
    return key !== "" && (this.#open.get(`${scope}${name} ${key}`)?.size ?? 0) > 0;
  }

  pin(scope: string, key: string): string | undefined {
    return this.#pins.get(scope + key);
  }

  overrides(scope: string, key: string): ReadonlySet<string> | undefined {
    return this.#overrides.get(scope + key);
  }

  /** When a group was issued or last seen in a request. */
  lastUse(group: Group): number {
    return Math.max(group.at, this.#used.get(group.id) ?? 0);
  }

  hasOverrides(scope: string): boolean {
    return this.#overridden.has(scope);
  }

  organisation(credential: string): string | undefined {
    return this.#accounts.get(credential);
  }

  remove(id: string): void {
    const group = this.#groups.get(id);
    if (group === undefined) return;
    this.#groups.delete(id);
    for (const opening of group.openings) {
      this.#alike.get(group.scope + opening)?.remove(group);
      this.#anywhere.set(
        opening,
        (this.#anywhere.get(opening) ?? []).filter((one) => one !== group),
      );
    }
    for (const hash of hashesOf(group)) {
      const left = (this.#byId.get(group.scope + hash) ?? []).filter((one) => one !== group);
      if (left.length === 0) this.#byId.delete(group.scope + hash);
      else this.#byId.set(group.scope + hash, left);
    }
    if (group.response !== undefined) this.#byResponse.delete(group.scope + group.response);
  }

  #add(group: Group): void {
    if (this.#groups.has(group.id)) return;
    this.#groups.set(group.id, group);
    for (const opening of group.openings) {
      const key = group.scope + opening;
      const alike = this.#alike.get(key) ?? new Alike();
      this.#alike.set(key, alike);
      alike.add(group);
      put(this.#anywhere, opening, group);
    }
    for (const hash of hashesOf(group)) put(this.#byId, group.scope + hash, group);
    if (group.response !== undefined) this.#byResponse.set(group.scope + group.response, group);
  }

  #ask(asked: Asked): void {
    this.#asked.set(asked.id, asked);
    for (const name of OPEN_KEYS) {
      const key = `${asked.scope}${name} ${keyOf(asked, name)}`;
      const ids = this.#open.get(key) ?? new Set();
      this.#open.set(key, ids.add(asked.id));
    }
  }

  #close(id: string): void {
    const asked = this.#asked.get(id);
    if (asked === undefined) return;
    this.#asked.delete(id);
    for (const name of OPEN_KEYS) {
      const key = `${asked.scope}${name} ${keyOf(asked, name)}`;
      const ids = this.#open.get(key);
      ids?.delete(id);
      if (ids?.size === 0) this.#open.delete(key);
    }
  }

  #pin({ scope, key, group }: Pin): void {
    if (group === UNPINNED) this.#pins.delete(scope + key);
    else this.#pins.set(scope + key, group);
  }

  #override({ scope, key, what }: Override): void {
    this.#overridden.add(scope);
    const known = this.#overrides.get(scope + key) ?? new Set();
    this.#overrides.set(scope + key, known.add(what));
  }
}

/** A pin that a refusal broke. */
export const UNPINNED = "-";
/** A pin that says: nothing goes back here. */
export const NOTHING = "";

function hashesOf(group: Group): readonly string[] {
  const hashes: string[] = [...group.ids];
  addAll(
    hashes,
    group.thoughts.flatMap(({ id, identities, words }) =>
      [id ?? "", words, ...identities].filter((hash) => hash !== ""),
    ),
  );
  return [...new Set(hashes)];
}
