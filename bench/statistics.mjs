/**
 * The arithmetic of the benchmark: median, spread, order of growth.
 *
 * @module
 */

export function median(values) {
  if (values.length === 0) return undefined;
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Median, minimum and maximum; undefined for an empty list. */
export function spread(values) {
  const known = values.filter((value) => Number.isFinite(value));
  if (known.length === 0) return undefined;
  return { median: median(known), min: Math.min(...known), max: Math.max(...known), count: known.length };
}

/** The exponent k in cost ≈ size^k, by least squares on logarithms; 1 is linear. */
export function orderOfGrowth(points) {
  if (points.length < 2) return undefined;
  const logs = points.map(([size, cost]) => [Math.log(size), Math.log(cost)]);
  const mean = (at) => logs.reduce((sum, point) => sum + point[at], 0) / logs.length;
  const [meanX, meanY] = [mean(0), mean(1)];
  const above = logs.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  const below = logs.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  return above / below;
}

const LAST = 3;

/** The last rounds of a sample: by then the code is as warm as it gets in this sample. */
export function lastOf(rounds) {
  return rounds.slice(-LAST);
}

/** The median of every figure over some rounds. */
export function mediansOf(rounds) {
  const keys = Object.keys(rounds[0]).filter((key) => typeof rounds[0][key] === "number");
  return Object.fromEntries(keys.map((key) => [key, median(rounds.map((round) => round[key]))]));
}
