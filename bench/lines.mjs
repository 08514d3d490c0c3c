/**
 * The lines of the table: the figure of a sample, what it is compared with, and the target.
 *
 * A ratio is the figure of a sample divided by that of its floor in the same repetition. An amount is the figure itself,
 * or the result of `value` for it and another sample: `self` (the same adapter at another size), `floor` (its floor), or
 * `peers` (the least figure of these libraries). `fileTarget` is the target with the file store, if it differs; null if
 * there is none. `alone` is the title without the line above it. `instead` is the smaller sample for adapters that are
 * excluded from the large one; the table says so.
 *
 * @module
 */
import { sizesOf } from "./rows.mjs";
import { PEERS } from "./variants.mjs";

const cpu = ({ cpuMs }) => cpuMs;
const lastTenth = ({ lastTenthMs }) => lastTenthMs;
const peak = ({ peakMb }) => peakMb;
const tail = ({ tailMs }) => tailMs;
const middle = ({ medianMs }) => medianMs;
const wall = ({ wallMs }) => wallMs;
const blocked = ({ blockedMs }) => blockedMs;

const CPU = { figure: cpu, unit: "× floor, CPU", floorUnit: "ms" };
const WALL = { figure: wall, unit: "× floor, wall", floorUnit: "ms" };
const TAIL = { ...WALL, figure: tail };
const RSS = { figure: peak, unit: "× floor, RSS", floorUnit: "MB" };

/** The same figure of the warm rounds. */
function warmed({ figure, ...more }) {
  return { ...more, figure: ({ warm }) => (warm === undefined ? Number.NaN : figure(warm)) };
}

function ratio(id, title, { figure, unit, floorUnit }, sample, target) {
  return {
    id,
    title,
    sample,
    target,
    unit,
    floorUnit,
    form: "ratio",
    against: "floor",
    absolute: figure,
    value: (own, floor) => figure(own) / figure(floor),
  };
}

function amount(id, title, { figure, unit }, sample, target) {
  return {
    id,
    title,
    sample,
    target,
    unit,
    floorUnit: unit,
    form: "amount",
    absolute: figure,
    value: figure,
  };
}

/** The figure divided by the least one of these libraries in the same repetition. */
function beside(peers, id, title, { figure, unit }, sample, target) {
  const value = (own, least) => figure(own) / least;
  return { id, title, sample, target, unit, form: "beside", against: "peers", peers, figure, value };
}

/** The cost at one size divided by the cost at another, of the same adapter. */
function growth(id, title, figure, sample, self, target) {
  const value = (large, small) => figure(large) / figure(small);
  return { id, title, sample, target, unit: "× own cost", form: "amount", against: "self", self, value };
}

function count(number) {
  return String(Math.round(number)).replaceAll(/\B(?=(\d{3})+$)/g, ",");
}

function bytes(size) {
  return size >= 2 ** 20 ? `${count(size / 2 ** 20)} MB` : `${count(size / 1024)} KB`;
}

/** A line that belongs to the one above it. */
function under(alone, line) {
  return { ...line, alone };
}

export function linesOf(options) {
  const sizes = sizesOf(options);
  return [
    ...answerLines(sizes),
    ...loopLines(sizes),
    ...buildLines(sizes),
    ...openLines(sizes),
    ...waitLines(sizes),
    ...serverLines(sizes),
    ...startLines(),
  ];
}

function answerLines({ events, texts, ciphertext, args }) {
  const stream = `mixed-${events}`;
  const text = `text-${texts}`;
  const enc = `enc-${ciphertext}`;
  const [, args50, args100, , args400] = args.map((size) => `args-${size}`);
  const smaller = { instead: { sample: args50, size: bytes(args[1]) } };
  return [
    ratio("stream-cpu", `stream of ${count(events)} mixed events, cold`, CPU, stream, 2),
    under("stream, warm", ratio("stream-warm", "… warm", warmed(CPU), stream, 1.5)),
    under("stream, cold: wall time", ratio("stream-wall", "… cold, wall time", WALL, stream, 2)),
    under("stream: peak memory", ratio("stream-rss", "… peak memory", RSS, stream, 1.3)),
    under("stream: last byte → result", {
      ...ratio("stream-tail", "… last byte → result", TAIL, stream, 1.2),
      fileTarget: 1.5,
    }),
    ratio("text-rss", `text of ${count(texts)} deltas, peak memory`, RSS, text),
    under(
      `text of ${count(texts)} deltas: peak memory against openai`,
      beside(["openai"], "text-openai", "… against openai", { figure: peak, unit: "× openai, RSS" }, text, 1),
    ),
    ratio("enc-cpu", `${bytes(ciphertext)} of encrypted_content, cold`, CPU, enc, 1),
    under("encrypted, warm", ratio("enc-warm", "… warm", warmed(CPU), enc)),
    under("encrypted: last byte → result", {
      ...ratio("enc-tail", "… last byte → result, cold", TAIL, enc, 1.2),
      fileTarget: 1.5,
    }),
    under(
      "encrypted: last byte → result, warm",
      ratio("enc-tail-warm", "… last byte → result, warm", warmed(TAIL), enc),
    ),
    {
      ...ratio("args-cpu", `${bytes(args[2])} of arguments in deltas of 10, cold`, CPU, args100, 2.2),
      ...smaller,
    },
    under("arguments, warm", ratio("args-warm", "… warm", warmed(CPU), args100)),
    under(
      "arguments: four times as many (linear: 4)",
      growth("args-growth", "… four times as many (linear: 4)", cpu, args400, args100, 4.8),
    ),
  ];
}

function loop(steps) {
  return `loop-${steps}`;
}

function loopLines({ steps }) {
  const [short, medium, long] = steps;
  const step = (size) =>
    under(
      `tool loop: CPU of a step at the end of ${size}`,
      amount(
        `step-${size}`,
        `… CPU of a step at the end of ${size}`,
        { figure: lastTenth, unit: "ms" },
        loop(size),
      ),
    );
  const memory = { figure: peak, unit: "MB" };
  return [
    ratio("loop-short", `tool loop of ${short} steps, cold`, CPU, loop(short), 1),
    under(`tool loop of ${short} steps, warm`, ratio("loop-warm", "… warm", warmed(CPU), loop(short))),
    ratio("loop-medium", `tool loop of ${medium} steps`, CPU, loop(medium), 0.3),
    {
      ...ratio("loop-long", `tool loop of ${long} steps`, CPU, loop(long), 0.1),
      instead: { sample: loop(medium), size: `${medium} steps` },
    },
    step(short),
    step(medium),
    step(long),
    under(
      `tool loop: a step at the end of ${long} over one at the end of ${short}`,
      growth("step-flat", "… the last over the first of these", lastTenth, loop(long), loop(short), 2),
    ),
    under(
      `tool loop of ${long} steps: peak memory`,
      amount("loop-rss", `… peak memory at ${long} steps`, memory, loop(long), 110),
    ),
    ratio("fetch-cpu", `tool loop of ${long} steps, injected fetch`, CPU, "fetch"),
  ];
}

function buildLines({ items }) {
  const next = { ...CPU, figure: ({ nextCpuMs }) => nextCpuMs };
  return [
    ratio("build-cold", `request of ${count(items)} items, cold`, CPU, "build", 2.5),
    under("request of a history, warm", ratio("build-warm", "… warm", warmed(CPU), "build")),
    under("request of the next turn", ratio("build-next", "… of the next turn", next, "build", 0.05)),
    under(
      "request of the next turn, warm",
      ratio("build-next-warm", "… of the next turn, warm", warmed(next), "build"),
    ),
    ratio("file-send", `file → request of ${count(items)} items, cold`, CPU, "send-items", 1.2),
    under(
      `file → request of ${count(items)} items, warm`,
      ratio("file-send-warm", "… warm", warmed(CPU), "send-items"),
    ),
    under(
      `file → request of ${count(items)} items: peak memory`,
      ratio("file-send-rss", "… peak memory", RSS, "send-items"),
    ),
    under(
      `open a file of ${count(items)} items, cold`,
      ratio("file-open", "… open only, cold", CPU, "open-items", 0.7),
    ),
  ];
}

function openLines({ logged }) {
  const longest = logged.at(-1);
  return logged.flatMap((events) => {
    const [open, send] = [`open-${events}`, `send-${events}`];
    const of = `of ${count(events)} events`;
    const pause = { figure: blocked, unit: "ms" };
    const repeated = events !== longest;
    const sendTarget = events === logged[1] ? 0.9 : undefined;
    return [
      ratio(open, `open a log ${of}, cold`, CPU, open, 0.7),
      ...(repeated
        ? [under(`open a log ${of}, warm`, ratio(`${open}-warm`, "… warm", warmed(CPU), open))]
        : []),
      under(
        `open a log ${of}: wall time`,
        amount(`${open}-wall`, "… wall time", { figure: wall, unit: "ms" }, open),
      ),
      under(`open a log ${of}: peak memory`, ratio(`${open}-rss`, "… peak memory", RSS, open, 1)),
      ...(repeated
        ? []
        : [
            under(
              `open a log ${of}: peak memory in MB`,
              amount(`${open}-mb`, "… peak memory in MB", { figure: peak, unit: "MB" }, open, 1200),
            ),
          ]),
      under(
        `open a log ${of}: longest synchronous piece`,
        amount(`${open}-piece`, "… longest synchronous piece", pause, open, 50),
      ),
      ratio(send, `open → bytes, ${count(events)} events, cold`, CPU, send, sendTarget),
      ...(repeated
        ? [under(`open → bytes ${of}, warm`, ratio(`${send}-warm`, "… warm", warmed(CPU), send))]
        : []),
      under(`open → bytes ${of}: peak memory`, ratio(`${send}-rss`, "… peak memory", RSS, send)),
      under(
        `open → bytes ${of}: longest synchronous piece`,
        amount(`${send}-piece`, "… longest synchronous piece", pause, send, 50),
      ),
    ];
  });
}

function waitLines({ streams, deltas, aged }) {
  const conc = `conc-${deltas}`;
  const memory = { figure: ({ mbPerStream }) => mbPerStream, unit: "MB" };
  const least = { figure: middle, unit: "× best library, wall" };
  return [
    { ...ratio("conc-cpu", `${streams} streams, 10 events/s each`, CPU, conc, 1.8), fileTarget: 2.3 },
    under(
      `memory of one of ${streams} streams`,
      amount("conc-rss", "… memory of a stream", memory, conc, 0.15),
    ),
    { ...ratio("first", "call → first delta", { ...TAIL, figure: middle }, "first", 1.5), fileTarget: null },
    under("call → first delta against the best library", {
      ...beside(PEERS, "first-best", "… against the best library", least, "first"),
      fileTarget: 1,
    }),
    ratio("lat", "latency of a delta", { ...TAIL, figure: middle }, `lat-${aged}`, 1.3),
  ];
}

function serverLines({ followed, stored }) {
  const time = { figure: wall, unit: "ms" };
  const share = { figure: ({ share: own }) => own, unit: "% of a core" };
  const resident = { figure: ({ rssMb }) => rssMb, unit: "MB" };
  return [
    amount("idle", `idle server, ${count(followed)} followed sessions`, share, "idle", 2),
    under("idle server: memory", amount("idle-rss", "… memory", resident, "idle")),
    amount("list", `list of ${count(stored)} sessions, cold`, time, "list", 300),
    under(`list of ${count(stored)} sessions, warm`, amount("list-warm", "… warm", warmed(time), "list")),
    under(
      `search in ${count(stored)} sessions, cold`,
      amount("search", "… search without a match", time, "search"),
    ),
    under(
      `search in ${count(stored)} sessions, warm`,
      amount("search-warm", "… search without a match, warm", warmed(time), "search"),
    ),
  ];
}

function startLines() {
  const start = { ...WALL, unit: "× bare node, wall" };
  const size = { figure: ({ mb }) => mb, unit: "MB" };
  const disk = { figure: ({ diskMb }) => diskMb, unit: "MB" };
  const packages = { figure: ({ packages: installed }) => installed, unit: "packages" };
  return [
    {
      ...amount("import", "import of the library", { figure: cpu, unit: "ms" }, "import", 100),
      unit: "ms CPU above node",
      against: "floor",
      value: (own, bare) => cpu(own) - cpu(bare),
    },
    ratio("version", "command line, --version", start, "version", 2),
    amount("install-mb", "installed size, bytes of the files", size, "install", 5),
    under("installed size on disk", amount("install-disk", "… on disk, in whole blocks", disk, "install")),
    amount("install-packages", "installed packages", packages, "install", 5),
  ];
}
