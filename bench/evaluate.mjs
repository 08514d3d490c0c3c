import { VARIANTS } from "./rows.mjs";
/**
 * Turns results into the lines of the table: for each variant, the median ratio to its floor over all repetitions, the
 * spread, and whether ours meets the target.
 *
 * @module
 */
import { spread } from "./statistics.mjs";

const FLOORS = new Map(VARIANTS.map(({ id, floor }) => [id, floor]));
const OURS = ["ours", "ours-file", "ours-own"];

export function evaluate(lines, results, problems = []) {
  const at = new Map(results.map((one) => [keyOf(one.sample, one.variant, one.rep), one]));
  const variants = [...new Set(results.map(({ variant }) => variant))];
  const cellOf = (line, sample, variant) => {
    const own = results.filter((one) => one.sample === sample && one.variant === variant);
    return spread(own.flatMap((one) => valueOf(line, one, at)));
  };
  const smallerCellOf = (line, variant) => {
    if (line.instead === undefined) return undefined;
    const cell = cellOf(line, line.instead.sample, variant);
    return cell === undefined ? undefined : { ...cell, size: line.instead.size };
  };
  const evaluated = lines.map((line) => {
    const cells = {};
    for (const variant of variants) {
      const cell = cellOf(line, line.sample, variant) ?? smallerCellOf(line, variant);
      if (cell !== undefined) cells[variant] = cell;
    }
    for (const { sample, variant } of problems) if (sample === line.sample) cells[variant] = { wrong: true };
    const floors = results.filter((one) => one.sample === line.sample && one.variant === "floor");
    const floor = line.absolute === undefined ? undefined : spread(floors.map(line.absolute));
    return { ...line, cells, floor, verdict: verdictOf(line, cells) };
  });
  return evaluated.filter(({ cells }) => Object.keys(cells).length > 0);
}

function keyOf(sample, variant, rep) {
  return `${sample} ${variant} ${rep}`;
}

/** One value per repetition, always relative to a sample of the same repetition. */
function valueOf(line, result, at) {
  const { sample, variant, rep } = result;
  if (line.against === undefined) return [line.value(result)];
  const other =
    line.against === "self" ? keyOf(line.self, variant, rep) : keyOf(sample, FLOORS.get(variant), rep);
  const base = at.get(other);
  return base === undefined ? [] : [line.value(result, base)];
}

/** Ours must meet the target with the store off and on, and on every measured Node. */
function verdictOf({ target }, cells) {
  if (target === undefined) return undefined;
  const own = OURS.filter((id) => cells[id] !== undefined);
  if (own.length === 0) return undefined;
  const missed = own.filter((id) => cells[id].wrong === true || cells[id].median > target);
  if (missed.length === 0) return { met: true, missed: [] };
  return { met: false, missed };
}
