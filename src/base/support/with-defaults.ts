/** Some fields of `T`. An undefined one counts as not given. */
export type Given<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** The given values, with defaults for the rest. */
export function withDefaults<T extends object>(defaults: T, ...given: readonly (Given<T> | undefined)[]): T {
  const merged = { ...defaults };
  for (const one of given) {
    for (const [name, value] of Object.entries(one ?? {})) {
      if (value !== undefined) merged[name as keyof T] = value as T[keyof T];
    }
  }
  return merged;
}
