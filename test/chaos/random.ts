/** Random choices from a seed, so that a run can be repeated as far as processes allow. */

export interface Random {
  /** From 0 up to 1. */
  next(): number;
  between(from: number, to: number): number;
  pick<T>(of: readonly T[]): T;
  /** Picks a name by its weight. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name;
  chance(share: number): boolean;
  /** Another source, so that one part of a run does not shift the choices of another. */
  fork(name: string): Random;
}

/** Mulberry32. */
export function randomFrom(seed: number): Random {
  let state = seed | 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    next,
    between: (from, to) => from + next() * (to - from),
    pick: (of) => of[Math.floor(next() * of.length)] as (typeof of)[number],
    weighted: (weights) => {
      const entries = Object.entries<number>(weights);
      let left = next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      for (const [name, weight] of entries) {
        left -= weight;
        if (left < 0) return name as keyof typeof weights;
      }
      return entries.at(-1)?.[0] as keyof typeof weights;
    },
    chance: (share) => next() < share,
    fork: (name) => {
      let mixed = seed | 0;
      for (const char of name) mixed = (Math.imul(mixed, 31) + (char.codePointAt(0) ?? 0)) | 0;
      return randomFrom(mixed);
    },
  };
}
