/**
 * The differences in meaning between two request bodies. Ids and payloads are compared by position, not by text: each
 * client had its own conversation, and the emulator judges them. A text equals a list of one text part, and
 * `instructions` equals a system message at the beginning.
 *
 * @module
 */

type Json = Readonly<Record<string, unknown>>;

/** `path: only ours`, `path: only theirs`, `path: ours …, theirs …`; list items are named by type or role. */
export function requestDifferences(ours: unknown, theirs: unknown): readonly string[] {
  const found = new Set<string>();
  compare(plain(inFront(ours)), plain(inFront(theirs)), "", found);
  return [...found].toSorted();
}

function compare(ours: unknown, theirs: unknown, path: string, found: Set<string>): void {
  if (Array.isArray(ours) && typeof theirs === "string") {
    compare(ours, [{ type: "text", text: theirs }], path, found);
    return;
  }
  if (Array.isArray(ours) && Array.isArray(theirs)) {
    if (ours.length !== theirs.length) found.add(`${path}: ours ${namesOf(ours)}, theirs ${namesOf(theirs)}`);
    else
      for (const [index, one] of ours.entries())
        compare(one, theirs[index], `${path}[${nameOf(one)}]`, found);
    return;
  }
  if (isObject(ours) && isObject(theirs)) {
    for (const key of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
      const at = path === "" ? key : `${path}.${key}`;
      if (!(key in theirs)) found.add(`${at}: only ours`);
      else if (!(key in ours)) found.add(`${at}: only theirs`);
      else compare(ours[key], theirs[key], at, found);
    }
    return;
  }
  if (JSON.stringify(ours) !== JSON.stringify(theirs))
    found.add(`${path}: ours ${JSON.stringify(ours)}, theirs ${JSON.stringify(theirs)}`);
}

function inFront(body: unknown): unknown {
  if (!isObject(body) || typeof body["instructions"] !== "string") return body;
  const { instructions, ...rest } = body;
  const input = Array.isArray(rest["input"]) ? (rest["input"] as readonly unknown[]) : [];
  return { ...rest, input: [{ role: "system", content: instructions }, ...input] };
}

const opaque = new Set(["encrypted_content", "signature", "data"]);

/** Ids become the count of their first appearance among their kind; null equals absent. */
function plain(body: unknown): unknown {
  const ids = new Map<string, string>();
  const walk = (value: unknown, key: string): unknown => {
    if (typeof value === "string") {
      if (opaque.has(key)) return "(payload)";
      const id = /^(?:rs|msg|fc|call|toolu|chatcmpl)_\w+$/.test(value);
      if (!id) return value;
      if (!ids.has(value)) ids.set(value, `${kindOf(value)} ${countOf(ids, kindOf(value)) + 1}`);
      return ids.get(value);
    }
    if (Array.isArray(value)) return value.map((one) => walk(one, key));
    if (!isObject(value)) return value;
    const entries = Object.entries(value).filter(([, one]) => one !== undefined && one !== null);
    return Object.fromEntries(entries.map(([name, one]) => [name, walk(inParts(name, one), name)]));
  };
  return walk(body, "");
}

const kindOf = (id: string): string => id.slice(0, id.indexOf("_"));

function countOf(ids: ReadonlyMap<string, string>, kind: string): number {
  return [...ids.keys()].filter((id) => kindOf(id) === kind).length;
}

/** One text part equals the text alone. */
function inParts(name: string, value: unknown): unknown {
  if ((name !== "content" && name !== "output" && name !== "system") || !Array.isArray(value)) return value;
  const [only] = value as readonly unknown[];
  const alone = value.length === 1 && isObject(only) && typeof only["text"] === "string";
  const bare = alone && Object.entries(only).every(([key, one]) => /^(type|text)$/.test(key) || isEmpty(one));
  return bare ? only["text"] : value;
}

function namesOf(list: readonly unknown[]): string {
  return list.map(nameOf).join(" ");
}

function nameOf(one: unknown): string {
  if (!isObject(one)) return "";
  const name = one["role"] ?? one["name"] ?? one["type"];
  return typeof name === "string" ? name : "";
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
