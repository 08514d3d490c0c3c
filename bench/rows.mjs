/**
 * What is measured: the samples of each row.
 *
 * @module
 */

const HOUSE = ["floor", "ours"];
const KB = 1024;

/** The sizes of all samples. `quick` is a tenth of each, or less, to test the harness itself. */
export function sizesOf({ quick = false } = {}) {
  const scaled = (size) => Math.round(size / (quick ? 10 : 1));
  return {
    events: scaled(20_000),
    texts: scaled(80_000),
    ciphertext: scaled(4096 * KB),
    args: [25, 50, 100, 200, 400].map((size) => scaled(size * KB)),
    steps: [50, 200, 800].map(scaled),
    items: scaled(10_000),
    logged: quick ? [1000, 10_000, 20_000] : [10_000, 100_000, 1_000_000],
    streams: scaled(500),
    deltas: scaled(30),
    calls: scaled(200),
    aged: scaled(200),
    followed: scaled(2000),
    // A minute has three rounds of keep-alives, and the garbage of the start is collected in it, whenever V8 does that.
    idle: quick ? { settle: 1, seconds: 2 } : { settle: 5, seconds: 60 },
    stored: scaled(5000),
  };
}

/** One answer, read to its end. */
function ask(row, scenario, more = {}) {
  return { id: scenario, row, kind: "ask", scenario, reps: 3, ...more };
}

/**
 * The samples. `warm` is how often the work is repeated in the same process. `begins` is the template it begins with.
 * `only` lists the adapters that take part. `peerReps` is the number of repetitions of the peers, `ownReps` of the Node
 * that started the benchmark (two, unless it says otherwise): they keep a run short. `cap` lists adapters
 * that are excluded because they would take minutes; they are measured at the smaller sizes of the same row. `noFile`
 * means that the store makes no difference, `noBefore` that the sample is for the growth only.
 */
export function samplesOf(options) {
  const samples = allSamples(sizesOf(options));
  return options?.quick === true ? samples.map(once) : samples;
}

/** Tries a sample out: one repetition, and few rounds. */
function once(sample) {
  return { ...sample, reps: 1, ...(sample.warm === undefined ? {} : { warm: 2 }) };
}

function allSamples(sizes) {
  return [
    ask("stream", `mixed-${sizes.events}`, { reps: 5, peerReps: 2, ownReps: 3, warm: 8 }),
    ask("text", `text-${sizes.texts}`, { reps: 2, peerReps: 1, cap: ["langchain"] }),
    ask("enc", `enc-${sizes.ciphertext}`, { peerReps: 2, warm: 6 }),
    ...sizes.args.map((size, at) =>
      ask("args", `args-${size}`, {
        size,
        ...(at === 2 ? { peerReps: 2, warm: 8 } : { peerReps: 1 }),
        ...(at > 1 ? { cap: ["pi", "langchain"] } : {}),
        ...([2, 4].includes(at) ? {} : { reps: 1, noBefore: true }),
      }),
    ),
    ...loopSamples(sizes),
    ...sessionSamples(sizes),
    ask("conc", `conc-${sizes.deltas}`, {
      kind: "conc",
      reps: 2,
      peerReps: 1,
      order: { streams: sizes.streams },
    }),
    ask("latency", "tiny", { id: "first", kind: "first", order: { calls: sizes.calls } }),
    ask("latency", `lat-${sizes.aged}`, { kind: "lat", peerReps: 2 }),
    ...serverSamples(sizes),
    { id: "import", row: "start", kind: "import", reps: 5, ownReps: 5, noFile: true },
    { id: "version", row: "start", kind: "version", reps: 7, ownReps: 7, only: HOUSE, noFile: true },
    { id: "install", row: "install", kind: "install", reps: 1, noFile: true },
  ];
}

function loopSamples({ steps }) {
  const long = { reps: 2, peerReps: 1, cap: ["agents"] };
  return [
    ...steps.map((size, at) =>
      ask("loop", `loop-${size}`, {
        kind: "loop",
        size,
        order: { steps: size },
        ...(at === 0 ? { peerReps: 2, warm: 6 } : {}),
        ...(at === 1 ? { peerReps: 1 } : {}),
        ...(at === 2 ? long : {}),
      }),
    ),
    ask("fetch", `loop-${steps[2]}`, {
      id: "fetch",
      kind: "loop",
      order: { steps: steps[2], inject: `loop-${steps[2]}` },
      ...long,
      reps: 1,
      noFile: true,
    }),
  ];
}

/** A log that is opened, and one from which a request is sent. */
function both(id, begins, more) {
  const open = { row: "open", kind: "open", reps: 3, only: HOUSE, noFile: true, begins, ...more };
  return [
    { ...open, id: `open-${id}` },
    { ...open, id: `send-${id}`, order: { send: true } },
  ];
}

/** A log of the same history as the row `build`, and logs of three lengths. The longest takes long to read. */
function sessionSamples({ items, logged }) {
  return [
    {
      id: "build",
      row: "build",
      kind: "build",
      reps: 3,
      peerReps: 2,
      warm: 6,
      order: { items },
      noFile: true,
      begins: { make: "drafts", items },
    },
    ...both("items", { make: "log", items }, { warm: 5 }),
    ...logged.flatMap((events, at) =>
      both(String(events), { make: "log", events }, [{ warm: 8 }, { reps: 2, warm: 2 }, { reps: 1 }][at]),
    ),
  ];
}

function serverSamples({ followed, idle, stored }) {
  const list = { row: "list", kind: "list", reps: 3, warm: 5, only: HOUSE, noFile: true };
  const begins = { make: "folder", sessions: stored };
  return [
    {
      id: "idle",
      row: "idle",
      kind: "idle",
      reps: 1,
      only: ["ours"],
      noFile: true,
      order: { sessions: followed, ...idle },
    },
    { ...list, id: "list", begins },
    { ...list, id: "search", begins, order: { search: "nothing has this title" } },
  ];
}

export const ROWS = [...new Set(samplesOf().map(({ row }) => row))];
