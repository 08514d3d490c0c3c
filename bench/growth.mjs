/**
 * Cost against size: the rows that are measured at several sizes, and the order of growth of each adapter's cost.
 *
 * @module
 */
import { samplesOf } from "./rows.mjs";
import { median, orderOfGrowth } from "./statistics.mjs";
import { variantOf } from "./variants.mjs";

const TITLES = {
  args: {
    title: "Arguments of one call",
    axis: "characters of arguments, in deltas of 10",
    of: "characters",
  },
  loop: { title: "Tool loop", axis: "steps", of: "steps" },
};

/**
 * For each row with sizes: the median CPU time of each variant at each measured size. The order of growth is computed from
 * the two largest sizes, because at small sizes the fixed cost of a run hides it.
 */
export function growthOf(results, options) {
  const sized = samplesOf(options).filter(({ size }) => size !== undefined);
  return Object.entries(TITLES).flatMap(([row, titles]) => {
    const samples = sized.filter((sample) => sample.row === row);
    // An earlier build is not measured at every size.
    const variants = [...new Set(results.map(({ variant }) => variant))].filter(
      (id) => variantOf(id).build !== "before",
    );
    const series = variants.flatMap((variant) => {
      const points = samples.flatMap(({ id, size }) => {
        const costs = results.filter((one) => one.sample === id && one.variant === variant);
        return costs.length === 0 ? [] : [[size, median(costs.map(({ cpuMs }) => cpuMs))]];
      });
      return points.length === 0 ? [] : [{ variant, points, order: orderOfGrowth(points.slice(-2)) }];
    });
    return series.length === 0 ? [] : [{ row, ...titles, sizes: samples.map(({ size }) => size), series }];
  });
}
