/**
 * What is measured: the variants, and the samples of each row.
 *
 * @module
 */

export const PEERS = ["openai", "ai", "agents", "pi", "langchain"];
export const ADAPTERS = ["floor", "ours", ...PEERS];

/**
 * The variants. `floor` names the variant that each is compared with. Peers need Node 22 and run on Node 24. Ours and the
 * floor run there and on the Node that started the benchmark. `ours-file` comes before its floor, which writes and syncs
 * as much as it did.
 */
export const VARIANTS = [
  { id: "floor", adapter: "floor", node: "24", store: "memory", floor: "floor" },
  { id: "ours", adapter: "ours", node: "24", store: "memory", floor: "floor" },
  { id: "ours-file", adapter: "ours", node: "24", store: "file", floor: "floor-file" },
  { id: "floor-file", adapter: "floor", node: "24", store: "file", floor: "floor-file" },
  { id: "floor-own", adapter: "floor", node: "own", store: "memory", floor: "floor-own" },
  { id: "ours-own", adapter: "ours", node: "own", store: "memory", floor: "floor-own" },
  ...PEERS.map((id) => ({ id, adapter: id, node: "24", store: "memory", floor: "floor" })),
];

const HOUSE = ["floor", "ours"];
const KB = 1024;

/** The sizes of all samples. `quick` is a tenth of each, to test the harness itself. */
export function sizesOf({ quick = false } = {}) {
  const scaled = (size) => Math.round(size / (quick ? 10 : 1));
  return {
    events: scaled(20_000),
    ciphertext: scaled(4096 * KB),
    args: [25, 50, 100, 200, 400].map((size) => scaled(size * KB)),
    steps: [50, 200, 800].map(scaled),
    items: scaled(10_000),
    logged: scaled(100_000),
    streams: scaled(500),
    deltas: scaled(30),
    calls: scaled(200),
    aged: scaled(200),
  };
}

/** One answer, read to its end. */
function ask(row, scenario, more = {}) {
  return { id: scenario, row, kind: "ask", scenario, reps: 3, ...more };
}

/**
 * The samples. `only` lists the adapters that take part. `peerReps` is the number of repetitions of slow peers. `cap` lists
 * adapters that are excluded because they would take minutes; they are measured at the smaller sizes of the same row.
 * `noFile` means that the store makes no difference.
 */
export function samplesOf(options) {
  const sizes = sizesOf(options);
  const open = { row: "open", kind: "open", reps: 3, only: HOUSE, file: sizes.logged, noFile: true };
  return [
    ask("stream", `mixed-${sizes.events}`, { reps: 5 }),
    ask("enc", `enc-${sizes.ciphertext}`),
    ...sizes.args.map((size, at) =>
      ask("args", `args-${size}`, {
        size,
        ...(at === 2 ? {} : { peerReps: 1 }),
        ...(at > 1 ? { cap: ["pi", "langchain"] } : {}),
      }),
    ),
    ...sizes.steps.map((steps, at) =>
      ask("loop", `loop-${steps}`, {
        kind: "loop",
        size: steps,
        order: { steps },
        ...(at === 1 ? { peerReps: 2 } : {}),
        ...(at === 2 ? { reps: 2, peerReps: 1, cap: ["agents"] } : {}),
      }),
    ),
    { id: "build", row: "build", kind: "build", reps: 3, order: { items: sizes.items }, noFile: true },
    { ...open, id: "open" },
    { ...open, id: "open-send", order: { send: true } },
    ask("conc", `conc-${sizes.deltas}`, {
      kind: "conc",
      reps: 2,
      peerReps: 1,
      order: { streams: sizes.streams },
    }),
    ask("latency", "tiny", { id: "first", kind: "first", order: { calls: sizes.calls } }),
    ask("latency", `lat-${sizes.aged}`, { kind: "lat" }),
    { id: "import", row: "start", kind: "import", reps: 5, noFile: true },
    { id: "version", row: "start", kind: "version", reps: 7, only: HOUSE, noFile: true },
    { id: "install", row: "install", kind: "install", reps: 1, noFile: true },
  ];
}

export const ROWS = [...new Set(samplesOf().map(({ row }) => row))];
