/**
 * The lines of the table: the figure of a sample, what it is compared with, and the target.
 *
 * A ratio is the figure of a sample divided by that of its floor in the same repetition. An amount is the figure itself,
 * or the result of `value` for it and another sample: `self` (the same adapter at another size) or `floor` (its floor).
 * `alone` is the title without the line above it. `instead` is the smaller sample for adapters that are excluded from the
 * large one; the table says so.
 *
 * @module
 */
import { sizesOf } from "./rows.mjs";

const cpu = ({ cpuMs }) => cpuMs;
const lastTenth = ({ lastTenthMs }) => lastTenthMs;
const peak = ({ peakMb }) => peakMb;
const tail = ({ tailMs }) => tailMs;
const middle = ({ medianMs }) => medianMs;

const CPU = { figure: cpu, unit: "× floor, CPU", floorUnit: "ms" };
const TAIL = { figure: tail, unit: "× floor, wall", floorUnit: "ms" };

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
    ...sessionLines(sizes),
    ...waitLines(sizes),
    ...startLines(),
  ];
}

function answerLines({ events, ciphertext, args }) {
  const stream = `mixed-${events}`;
  const enc = `enc-${ciphertext}`;
  const [, args50, args100, , args400] = args.map((size) => `args-${size}`);
  const rss = { figure: peak, unit: "× floor, RSS", floorUnit: "MB" };
  return [
    ratio("stream-cpu", `stream of ${count(events)} mixed events`, CPU, stream, 2),
    under("stream: peak memory", ratio("stream-rss", "… peak memory", rss, stream, 1.3)),
    under("stream: last byte → result", ratio("stream-tail", "… last byte → result", TAIL, stream, 1.2)),
    ratio("enc-cpu", `${bytes(ciphertext)} of encrypted_content`, CPU, enc, 1),
    under("encrypted: last byte → result", ratio("enc-tail", "… last byte → result", TAIL, enc, 1.2)),
    {
      ...ratio("args-cpu", `${bytes(args[2])} of arguments in deltas of 10`, CPU, args100, 2),
      instead: { sample: args50, size: bytes(args[1]) },
    },
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
    amount(
      `step-${size}`,
      `… CPU of a step at the end of ${size}`,
      { figure: lastTenth, unit: "ms" },
      loop(size),
    );
  const memory = { figure: peak, unit: "MB" };
  return [
    ratio("loop-short", `tool loop of ${short} steps`, CPU, loop(short), 1),
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
  ];
}

function sessionLines({ items, logged }) {
  const next = { ...CPU, figure: ({ nextCpuMs }) => nextCpuMs };
  return [
    ratio("build-cold", `request of ${count(items)} items, cold`, CPU, "build", 1.3),
    under("request of the next turn", ratio("build-next", "… of the next turn", next, "build", 0.05)),
    ratio("open-fold", `open and fold ${count(logged)} events`, CPU, "open", 0.7),
    ratio("open-send", "open → bytes of the first request", CPU, "open-send", 0.4),
  ];
}

function waitLines({ streams, deltas, aged }) {
  const conc = `conc-${deltas}`;
  const memory = { figure: ({ mbPerStream }) => mbPerStream, unit: "MB" };
  return [
    ratio("conc-cpu", `${streams} streams, 10 events/s each`, CPU, conc, 1.5),
    under(
      `memory of one of ${streams} streams`,
      amount("conc-rss", "… memory of a stream", memory, conc, 0.1),
    ),
    ratio("first", "call → first delta", { ...TAIL, figure: middle }, "first", 1.5),
    ratio("lat", "latency of a delta", { ...TAIL, figure: middle }, `lat-${aged}`, 1.3),
  ];
}

function startLines() {
  const wall = { figure: ({ wallMs }) => wallMs, unit: "× bare node, wall", floorUnit: "ms" };
  const size = { figure: ({ mb }) => mb, unit: "MB" };
  const packages = { figure: ({ packages: installed }) => installed, unit: "packages" };
  return [
    {
      ...amount("import", "import of the library", { figure: cpu, unit: "ms" }, "import", 100),
      unit: "ms CPU above node",
      against: "floor",
      value: (own, bare) => cpu(own) - cpu(bare),
    },
    ratio("version", "command line, --version", wall, "version", 2),
    amount("install-mb", "installed size", size, "install", 5),
    amount("install-packages", "installed packages", packages, "install", 5),
  ];
}
