/**
 * The sentences of docs/performance.md that compare: with the libraries, and with an earlier build. They are made from
 * the lines of the table, so they cannot say anything else than it does.
 *
 * @module
 */
import { PAIRS, PEERS, variantOf } from "./variants.mjs";

/** Two figures are level if neither is more than a tenth below the other. */
const LEVEL = 0.9;

const GROUPS = [
  {
    name: "Processor time",
    takes: "takes less processor time",
    has: ({ unit, id }) => /CPU/.test(unit) || /^step-\d/.test(id),
  },
  { name: "Time", takes: "is faster", has: ({ unit }) => /wall/.test(unit) },
  { name: "Memory and size", takes: "needs less", has: ({ unit }) => /RSS|MB|packages/.test(unit) },
];

function titleOf({ alone, title }) {
  return alone ?? title;
}

function joined(names) {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

/** The libraries have no store, so the file store is compared as they are: with the plain floor, or not at all. */
function figureOf({ cells, form }, variant) {
  const cell =
    form === "ratio" && variantOf(variant).store === "file" ? cells[variant]?.plain : cells[variant];
  return cell === undefined || cell.wrong === true ? undefined : cell.median;
}

/** The libraries that are better or level on a line; undefined if no library was measured on it at this size. */
export function comparisonOf(line, variant) {
  const own = figureOf(line, variant);
  const peers = PEERS.filter((id) => line.cells[id]?.size === undefined && figureOf(line, id) !== undefined);
  if (own === undefined || peers.length === 0 || line.form === "beside") return undefined;
  const better = peers.filter((id) => figureOf(line, id) < own * LEVEL);
  const level = peers.filter((id) => !better.includes(id) && figureOf(line, id) * LEVEL <= own);
  return { line, better, level };
}

/** One paragraph for each group of lines, with the store off and with the file store. */
export function librarySentences(lines, columns) {
  const comparable = lines.filter(({ unit }) => unit !== "× own cost");
  const forms = columns.filter(({ id }) => ["ours", "ours-file"].includes(id));
  return GROUPS.flatMap(({ name, takes, has }) => {
    const said = forms.flatMap(({ id, title }) => {
      const all = comparable.filter(has).flatMap((line) => comparisonOf(line, id) ?? []);
      return all.length === 0 ? [] : [sentenceOf(`${title}: Throughline ${takes}`, all)];
    });
    return said.length === 0 ? [] : [`- **${name}.** ${said.join(" ")}`];
  });
}

function sentenceOf(begin, all) {
  const behind = all.filter(({ better, level }) => better.length + level.length > 0);
  const ahead = all.length - behind.length;
  const rest = behind.map(({ line, better, level }) => {
    const parts = [
      ...(better.length === 0 ? [] : [`${joined(better)} better`]),
      ...(level.length === 0 ? [] : [`${joined(level)} level`]),
    ];
    return `${titleOf(line)} (${parts.join(", ")})`;
  });
  const rows = `${begin} than every library in ${ahead} of ${all.length} rows`;
  return rest.length === 0 ? `${rows}.` : `${rows}; the others are ${rest.join("; ")}.`;
}

/** How the cost of a step grows, here and in the libraries. */
export function growthSentence(lines) {
  const line = lines.find(({ id }) => id === "step-flat");
  if (line === undefined) return [];
  const own = figureOf(line, "ours");
  const peers = PEERS.flatMap((id) => figureOf(line, id) ?? []);
  if (own === undefined || peers.length === 0) return [];
  const [least, most] = [Math.min(...peers), Math.max(...peers)].map((value) => value.toFixed(1));
  const title = titleOf(line).replace(/^tool loop: /, "");
  return [
    `- **Growth.** ${title}: ${own.toFixed(1)} times the cost in Throughline, ${least} to ${most} times in the libraries.`,
  ];
}

/** How many figures fell and rose since the earlier build, and which rose. */
export function changeSentence(lines, columns, label) {
  const changes = lines
    .filter(({ form }) => form !== "beside")
    .flatMap((line) =>
      PAIRS.flatMap(({ before, after }) => {
        const [was, is] = [line.cells[before], line.cells[after]];
        const column = columns.find(({ id }) => id === after);
        if (was?.median === undefined || is?.median === undefined || column === undefined) return [];
        return [{ line, title: column.title, was: was.median, is: is.median }];
      }),
    );
  const fell = changes.filter(({ was, is }) => is < was * LEVEL);
  const rose = changes.filter(({ was, is }) => was < is * LEVEL);
  const worse = rose.map(({ line, title }) => `${titleOf(line)} (${title})`);
  return (
    `Of ${changes.length} figures, ${fell.length} are more than a tenth below those of ${label}, ` +
    `${changes.length - fell.length - rose.length} are within a tenth, and ${rose.length} are more than a tenth above` +
    `${worse.length === 0 ? "" : `: ${worse.join("; ")}`}.`
  );
}
