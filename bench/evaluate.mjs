/**
 * Turns results into the lines of the table: for each variant, the median ratio to its floor over all repetitions, the
 * spread, and whether ours meets the target. A variant with the file store also gets the ratio to the plain floor.
 *
 * @module
 */
import { spread } from "./statistics.mjs";
import { OURS, variantOf } from "./variants.mjs";

export function evaluate(lines, results, problems = []) {
  const at = new Map(results.map((one) => [keyOf(one.sample, one.variant, one.rep), one]));
  const variants = [...new Set(results.map(({ variant }) => variant))];
  const cellOf = (line, sample, variant) => {
    const own = results.filter((one) => one.sample === sample && one.variant === variant);
    const { floor, plain } = variantOf(variant);
    const cell = spread(own.flatMap((one) => valueOf(line, one, floor, at)));
    if (cell === undefined || plain === undefined || line.form !== "ratio") return cell;
    const beside = spread(own.flatMap((one) => valueOf(line, one, plain, at)));
    return beside === undefined ? cell : { ...cell, plain: beside };
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
function valueOf(line, result, floor, at) {
  const { sample, variant, rep } = result;
  switch (line.against) {
    case undefined:
      return [line.value(result)];
    case "peers":
      return besidePeers(line, result, at);
    default: {
      const other = line.against === "self" ? keyOf(line.self, variant, rep) : keyOf(sample, floor, rep);
      const base = at.get(other);
      return base === undefined ? [] : [line.value(result, base)];
    }
  }
}

/** Slow libraries have fewer repetitions. The last one that they made is used for the rest. */
function besidePeers(line, result, at) {
  const figures = line.peers.flatMap((peer) => {
    for (let { rep } = result; rep >= 0; rep -= 1) {
      const one = at.get(keyOf(result.sample, peer, rep));
      if (one !== undefined) return [line.figure(one)];
    }
    return [];
  });
  return figures.length === 0 ? [] : [line.value(result, Math.min(...figures))];
}

/** The target of a variant: with the file store a line may have another one, or none. */
export function targetFor({ target, fileTarget }, variant) {
  if (variantOf(variant).store !== "file" || fileTarget === undefined) return target;
  return fileTarget ?? undefined;
}

/** Ours must meet the target with the store off and on, and on every measured Node. */
function verdictOf(line, cells) {
  const own = OURS.filter((id) => cells[id] !== undefined && targetFor(line, id) !== undefined);
  if (own.length === 0) return undefined;
  const missed = own.filter((id) => cells[id].wrong === true || cells[id].median > targetFor(line, id));
  return { met: missed.length === 0, missed };
}
