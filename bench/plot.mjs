/**
 * Draws the plots of docs/performance.md as SVG: every row's ratio to the floor on one logarithmic axis, and cost against
 * size. Each adapter has its own shape in addition to its colour. The picture includes its background, so that it is
 * readable on light and dark pages.
 *
 * @module
 */

const SERIES = {
  floor: { label: "floor", colour: ["#57606a", "#9da7b3"], shape: "bar" },
  ours: { label: "Throughline", colour: ["#0550ae", "#79c0ff"], shape: "disc" },
  "ours-file": { label: "Throughline, file store", colour: ["#0550ae", "#79c0ff"], shape: "ring" },
  openai: { label: "openai", colour: ["#116329", "#7ee787"], shape: "square" },
  ai: { label: "ai", colour: ["#953800", "#ffa657"], shape: "triangle" },
  agents: { label: "@openai/agents", colour: ["#a40e26", "#ff9492"], shape: "diamond" },
  pi: { label: "pi", colour: ["#6639ba", "#d2a8ff"], shape: "cross" },
  langchain: { label: "langchain", colour: ["#7d4e00", "#e3b341"], shape: "plus" },
};

function escaped(raw) {
  return String(raw).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function n(value) {
  return Number(value.toFixed(1));
}

function colours(at) {
  return Object.entries(SERIES)
    .map(([id, { colour }]) => `.s-${id}{color:${colour[at]}}`)
    .join("");
}

function style() {
  return `<style>
svg{font:13px system-ui,-apple-system,"Segoe UI",sans-serif}
.page{fill:#ffffff}.ink{fill:#1f2328}.soft{fill:#59636e}.grid{stroke:#d1d9e0}.axis{stroke:#59636e}.goal{stroke:#1f2328}
.fill{fill:currentColor;stroke:none}.line{fill:none;stroke:currentColor;stroke-width:2}
.title{font-size:16px;font-weight:600}.small{font-size:12px}
${colours(0)}
@media (prefers-color-scheme:dark){.page{fill:#0d1117}.ink{fill:#f0f6fc}.soft{fill:#9198a1}.grid{stroke:#30363d}.axis{stroke:#9198a1}.goal{stroke:#f0f6fc}
${colours(1)}}
</style>`;
}

function mark(id, x, y) {
  const { shape } = SERIES[id];
  const at = (path, kind) => `<path class="s-${id} ${kind}" d="${path}"/>`;
  const [cx, cy] = [n(x), n(y)];
  switch (shape) {
    case "disc":
      return `<circle class="s-${id} fill" cx="${cx}" cy="${cy}" r="6.5"/>`;
    case "ring":
      return `<circle class="s-${id} line" cx="${cx}" cy="${cy}" r="9"/>`;
    case "square":
      return at(`M${n(cx - 4.5)} ${n(cy - 4.5)}h9v9h-9z`, "fill");
    case "triangle":
      return at(`M${cx} ${n(cy - 5.5)}l5.5 10h-11z`, "fill");
    case "diamond":
      return at(`M${cx} ${n(cy - 6)}l6 6-6 6-6-6z`, "fill");
    case "cross":
      return at(`M${n(cx - 4.5)} ${n(cy - 4.5)}l9 9m0-9l-9 9`, "line");
    case "plus":
      return at(`M${cx} ${n(cy - 6)}v12m-6-6h12`, "line");
    default:
      return at(`M${n(cx - 6)} ${cy}h12`, "line");
  }
}

function text(x, y, content, kind = "ink", anchor = "start") {
  return `<text class="${kind}" x="${n(x)}" y="${n(y)}" text-anchor="${anchor}">${escaped(content)}</text>`;
}

function line(kind, x1, y1, x2, y2, more = "") {
  return `<line class="${kind}" x1="${n(x1)}" y1="${n(y1)}" x2="${n(x2)}" y2="${n(y2)}" ${more}/>`;
}

function legend(ids, x, y, width) {
  const parts = [];
  let [at, row] = [x, y];
  for (const id of ids) {
    const space = 30 + SERIES[id].label.length * 7.2;
    if (at + space > x + width) [at, row] = [x, row + 20];
    parts.push(mark(id, at + 7, row), text(at + 20, row + 4.5, SERIES[id].label, "ink small"));
    at += space;
  }
  return { svg: parts.join(""), bottom: row + 20 };
}

function picture({ width, height, title, description, body }) {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title description">
<title id="title">${escaped(title)}</title>
<desc id="description">${escaped(description)}</desc>
${style()}
<rect class="page" width="${width}" height="${height}" rx="8"/>
${body}
</svg>
`;
}

function duration(ms) {
  return ms >= 1000 ? `${ms / 1000} s` : `${ms} ms`;
}

function label(value) {
  return value >= 1000 ? `${value / 1000},000` : String(value);
}

/** Powers of ten from below the least to above the greatest value. */
function decades(values) {
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.ceil(Math.log10(Math.max(...values)));
  return Array.from({ length: Math.max(2, high - low + 1) }, (_, at) => 10 ** (low + at));
}

/** Every line that is a ratio to the floor and has a target: one strip each, the floor at 1, the target as a stroke. */
export function ratioPlot(lines) {
  const strips = lines.filter(
    ({ form, id, target }) => form === "ratio" && target !== undefined && id !== "version",
  );
  const ids = ["ours", "ours-file", "openai", "ai", "agents", "pi", "langchain"];
  const valuesOf = ({ cells, target }) => [target, ...ids.flatMap((id) => cells[id]?.median ?? [])];
  const ticks = decades([...strips.flatMap(valuesOf), 1]);
  const [left, right, rowHeight] = [292, 28, 27];
  const width = 960;
  const scale = logScale(ticks, left, width - right);
  const key = legend(ids, 20, 66, width - 40);
  const top = key.bottom + 26;
  const bottom = top + strips.length * rowHeight;
  const body = [
    text(20, 30, "Cost against the floor (logarithmic; less is better)", "ink title"),
    text(
      20,
      48,
      "Median over repetitions of sample ÷ floor of the same repetition. Stroke: target. Line at 1: the floor.",
      "soft small",
    ),
    key.svg,
    ...ticks.flatMap((tick) => [
      line(
        tick === 1 ? "axis" : "grid",
        scale(tick),
        top - 8,
        scale(tick),
        bottom,
        tick === 1 ? 'stroke-width="2"' : "",
      ),
      text(scale(tick), bottom + 18, `${label(tick)}×`, "soft small", "middle"),
    ]),
    text((left + width - right) / 2, bottom + 40, "× the floor", "soft small", "middle"),
    ...strips.flatMap((strip, at) => {
      const y = top + at * rowHeight + rowHeight / 2;
      const goal = scale(strip.target);
      return [
        line("grid", left, y, width - right, y),
        text(left - 12, y + 4.5, strip.alone ?? strip.title, "ink small", "end"),
        ...ids.toReversed().flatMap((id) => {
          const cell = strip.cells[id];
          return cell?.median > 0 ? [mark(id, scale(cell.median), y)] : [];
        }),
        line("goal", goal, y - 10, goal, y + 10, 'stroke-width="2.5"'),
      ];
    }),
  ].join("\n");
  return picture({
    width,
    height: bottom + 56,
    title: "Cost of Throughline and its peers against the floor",
    description: `For each row the median ratio to the floor. ${strips.map((strip) => inWords(strip)).join(" ")}`,
    body,
  });
}

function inWords(strip) {
  const cells = Object.entries(SERIES).flatMap(([id, { label: name }]) => {
    const cell = strip.cells[id];
    return id === "floor" || cell?.median === undefined ? [] : [`${name} ${cell.median.toPrecision(2)}`];
  });
  return `${strip.alone ?? strip.title} (target ${strip.target}): ${cells.join(", ")}.`;
}

function logScale(ticks, from, to) {
  const [low, high] = [Math.log10(ticks[0]), Math.log10(ticks.at(-1))];
  return (value) => from + ((Math.log10(value) - low) / (high - low)) * (to - from);
}

/** CPU against size, both axes logarithmic: a slope of one is linear, of two quadratic. */
export function growthPlot(growth) {
  const ids = ["ours", "floor", "openai", "ai", "agents", "pi", "langchain"];
  const [width, panel, top, high] = [960, 400, 124, 330];
  const key = legend(ids, 20, 66, width - 40);
  const panels = growth.map(({ title, axis, sizes, series }, at) => {
    const shown = series.filter(({ variant }) => ids.includes(variant));
    const left = 70 + at * (panel + 80);
    const ticks = decades(shown.flatMap(({ points }) => points.map(([, cost]) => cost)));
    const x = logScale([sizes[0], sizes.at(-1)], left + 10, left + panel - 20);
    const y = logScale(ticks, top + high, top);
    return [
      text(left, top - 14, title, "ink"),
      ...ticks.flatMap((tick) => [
        line("grid", left, y(tick), left + panel - 10, y(tick)),
        text(left - 8, y(tick) + 4, duration(tick), "soft small", "end"),
      ]),
      ...sizes.flatMap((size) => [
        line("axis", x(size), top + high, x(size), top + high + 5),
        text(x(size), top + high + 20, sizeLabel(size), "soft small", "middle"),
      ]),
      line("axis", left, top + high, left + panel - 10, top + high),
      text(left + panel / 2, top + high + 40, axis, "soft small", "middle"),
      ...shown.map(({ variant, points }) => {
        const path = points.map(([size, cost], one) => `${one === 0 ? "M" : "L"}${n(x(size))} ${n(y(cost))}`);
        const marks = points.map(([size, cost]) => mark(variant, x(size), y(cost)));
        return `<path class="s-${variant} line" d="${path.join("")}"/>${marks.join("")}`;
      }),
    ].join("\n");
  });
  const body = [
    text(20, 30, "Growth: CPU time against size (both axes logarithmic)", "ink title"),
    text(
      20,
      48,
      "A line that rises as steeply as the size grows is linear; twice as steeply is quadratic.",
      "soft small",
    ),
    key.svg,
    ...panels,
  ].join("\n");
  const described = growth.map(({ title, of, series }) => {
    const orders = series
      .filter(({ variant, order }) => ids.includes(variant) && order !== undefined)
      .map(({ variant, order }) => `${SERIES[variant].label} ${order.toFixed(2)}`);
    return `${title}: CPU grows with the number of ${of} to the power of ${orders.join(", ")}.`;
  });
  return picture({
    width,
    height: top + high + 60,
    title: "Growth of cost with size",
    description: described.join(" "),
    body,
  });
}

function sizeLabel(size) {
  return size >= 1024 && size % 1024 === 0 ? `${size / 1024} KB` : String(size);
}
