/**
 * The lines of the table: which figure of which sample, against what, and its target.
 *
 * A ratio is the figure of a sample over that of its floor in the same repetition. An amount is the figure itself, or
 * what `value` makes of it and of another sample: `self`, the same adapter's of another size; `floor`, its floor's.
 * `alone`: the title where the line above is not there to say what it belongs to.
 * `instead`: the smaller sample that stands in for an adapter which is left out of the large one; the table says so.
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

/** A cost at one size over the cost at another, both of the same adapter. */
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

export function linesOf(options) {
  const sizes = sizesOf(options);
  const stream = `mixed-${sizes.events}`;
  const enc = `enc-${sizes.ciphertext}`;
  const [, args50, args100, , args400] = sizes.args;
  const [short, medium, long] = sizes.steps;
  const conc = `conc-${sizes.deltas}`;
  const step = { figure: lastTenth, unit: "ms" };
  return [
    ratio("stream-cpu", `stream of ${count(sizes.events)} mixed events`, CPU, stream, 2),
    {
      ...ratio(
        "stream-rss",
        "… peak memory",
        { figure: peak, unit: "× floor, RSS", floorUnit: "MB" },
        stream,
        1.3,
      ),
      alone: "stream: peak memory",
    },
    {
      ...ratio("stream-tail", "… last byte → result", TAIL, stream, 1.2),
      alone: "stream: last byte → result",
    },
    ratio("enc-cpu", `${bytes(sizes.ciphertext)} of encrypted_content`, CPU, enc, 1),
    { ...ratio("enc-tail", "… last byte → result", TAIL, enc, 1.2), alone: "encrypted: last byte → result" },
    {
      ...ratio("args-cpu", `${args100 / 1024} KB of arguments in deltas of 10`, CPU, `args-${args100}`, 2),
      instead: { sample: `args-${args50}`, size: `${args50 / 1024} KB` },
    },
    growth("args-growth", "… four times as many (linear: 4)", cpu, `args-${args400}`, `args-${args100}`, 4.8),
    ratio("loop-short", `tool loop of ${short} steps`, CPU, `loop-${short}`, 1),
    ratio("loop-medium", `tool loop of ${medium} steps`, CPU, `loop-${medium}`, 0.3),
    {
      ...ratio("loop-long", `tool loop of ${long} steps`, CPU, `loop-${long}`, 0.1),
      instead: { sample: `loop-${medium}`, size: `${medium} steps` },
    },
    amount("step-short", `… CPU of a step at the end of ${short}`, step, `loop-${short}`),
    amount("step-medium", `… CPU of a step at the end of ${medium}`, step, `loop-${medium}`),
    amount("step-long", `… CPU of a step at the end of ${long}`, step, `loop-${long}`),
    growth("step-flat", "… the last over the first of these", lastTenth, `loop-${long}`, `loop-${short}`, 2),
    amount("loop-rss", `… peak memory at ${long} steps`, { figure: peak, unit: "MB" }, `loop-${long}`, 110),
    ratio("build-cold", `request of ${count(sizes.items)} items, cold`, CPU, "build", 1.3),
    {
      ...ratio(
        "build-next",
        "… of the next turn",
        { ...CPU, figure: ({ nextCpuMs }) => nextCpuMs },
        "build",
        0.05,
      ),
      alone: "request of the next turn",
    },
    ratio("open-fold", `open and fold ${count(sizes.logged)} events`, CPU, "open", 0.7),
    ratio("open-send", "open → bytes of the first request", CPU, "open-send", 0.4),
    ratio("conc-cpu", `${sizes.streams} streams, 10 events/s each`, CPU, conc, 1.5),
    amount(
      "conc-rss",
      "… memory of a stream",
      { figure: ({ mbPerStream }) => mbPerStream, unit: "MB" },
      conc,
      0.1,
    ),
    ratio("first", "call → first delta", { ...TAIL, figure: middle }, "first", 1.5),
    ratio("lat", "latency of a delta", { ...TAIL, figure: middle }, `lat-${sizes.aged}`, 1.3),
    {
      ...amount("import", "import of the library", { figure: cpu, unit: "ms" }, "import", 100),
      unit: "ms CPU above node",
      against: "floor",
      value: (own, bare) => cpu(own) - cpu(bare),
    },
    ratio(
      "version",
      "command line, --version",
      { figure: ({ wallMs }) => wallMs, unit: "× bare node, wall", floorUnit: "ms" },
      "version",
      2,
    ),
    amount("install-mb", "installed size", { figure: ({ mb }) => mb, unit: "MB" }, "install", 5),
    amount(
      "install-packages",
      "installed packages",
      { figure: ({ packages }) => packages, unit: "" },
      "install",
      5,
    ),
  ];
}
