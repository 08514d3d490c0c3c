/**
 * Counts how many elements of arrays and maps some work walks over, and how many characters it replaces in. No clock:
 * code that looks at everything again for each event shows up however fast the machine.
 */

const ARRAY_WALKS = [
  "concat",
  "every",
  "filter",
  "find",
  "findIndex",
  "findLast",
  "findLastIndex",
  "flatMap",
  "forEach",
  "indexOf",
  "map",
  "reduce",
  "slice",
  "some",
  "toReversed",
  "toSorted",
] as const;
const MAP_WALKS = ["entries", "forEach", "keys", "values"] as const;

type Methods = Record<PropertyKey, (this: unknown, ...rest: unknown[]) => unknown>;

/**
 * How much `work` walks over. It must not await anything. The iterator of arrays is left alone: V8 never recovers from
 * a change of it, and all tests of the process would be slower.
 */
export function walksOf(work: () => unknown): number {
  let walked = 0;
  const undo = [
    ...ARRAY_WALKS.map((name) =>
      counted(Array.prototype, name, (self) => (walked += (self as readonly unknown[]).length)),
    ),
    ...[...MAP_WALKS, Symbol.iterator].map((name) =>
      counted(Map.prototype, name, (self) => (walked += (self as ReadonlyMap<unknown, unknown>).size)),
    ),
    counted(String.prototype, "replaceAll", (self) => (walked += String(self).length)),
  ];
  try {
    work();
  } finally {
    for (const one of undo.toReversed()) one();
  }
  return walked;
}

function counted(prototype: object, name: PropertyKey, count: (self: unknown) => void): () => void {
  const methods = prototype as Methods;
  const before = Object.getOwnPropertyDescriptor(prototype, name) as PropertyDescriptor;
  const original = methods[name] as Methods[string];
  Object.defineProperty(prototype, name, {
    ...before,
    value: function walking(this: unknown, ...rest: unknown[]) {
      count(this);
      return original.apply(this, rest);
    },
  });
  return () => void Object.defineProperty(prototype, name, before);
}
