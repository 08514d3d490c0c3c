/**
 * Who takes part: the adapters, and each of them on its Nodes, stores and builds.
 *
 * @module
 */

export const PEERS = ["openai", "ai", "agents", "pi", "langchain"];
export const ADAPTERS = ["floor", "ours", ...PEERS];

/** The variants of ours and of the floor on one Node. `suffix` tells the Nodes apart. */
function house(node, suffix) {
  const [floor, ours] = [`floor${suffix}`, `ours${suffix}`];
  const [floorFile, oursFile] = [`${floor}-file`, `${ours}-file`];
  const before = `before${suffix}`;
  const memory = { node, store: "memory", floor };
  const file = { node, store: "file", floor: floorFile, plain: floor };
  return [
    { ...memory, id: floor, adapter: "floor" },
    { ...memory, id: ours, adapter: "ours", build: "after" },
    { ...memory, id: before, adapter: "ours", build: "before", after: ours },
    { ...file, id: oursFile, adapter: "ours", build: "after" },
    { ...file, id: `${before}-file`, adapter: "ours", build: "before", after: oursFile },
    { ...file, id: floorFile, adapter: "floor", matches: oursFile },
  ];
}

/**
 * The variants. `floor` names the variant that each is compared with, `plain` the floor without a disk. Peers need Node 22
 * and run on Node 24. Ours and the floor run there and on the Node that started the benchmark ("own"). A floor with a
 * file comes after the variant of ours that it `matches`: it writes and syncs as much. `before` is an earlier build of
 * ours; it takes part if the run was given one.
 */
export const VARIANTS = [
  ...house("24", ""),
  ...house("own", "-own"),
  ...PEERS.map((id) => ({ id, adapter: id, node: "24", store: "memory", floor: "floor" })),
];

const BY_ID = new Map(VARIANTS.map((variant) => [variant.id, variant]));

export function variantOf(id) {
  return BY_ID.get(id);
}

/** The variants of ours that the targets are for. */
export const OURS = VARIANTS.filter(({ build }) => build === "after").map(({ id }) => id);

/** Pairs of an earlier variant and the same one now. */
export const PAIRS = VARIANTS.filter(({ after }) => after !== undefined).map(({ id, after }) => ({
  before: id,
  after,
}));

/** The variants that take part in a run. */
export function variantsFor({ adapters, hasBefore, sameNode }) {
  return VARIANTS.filter(
    ({ adapter, node, build, matches }) =>
      adapters.has(adapter) &&
      !(sameNode && node === "own") &&
      !(build === "before" && !hasBefore) &&
      !(matches !== undefined && !adapters.has("ours")),
  );
}
