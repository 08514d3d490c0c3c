/** Small choices of the reader that outlive a reload. A browser without storage forgets them, and nothing else. */

export function keptFlag(name: string, otherwise: boolean): boolean {
  try {
    const text = localStorage.getItem(`throughline/${name}`);
    return text === null ? otherwise : text === "yes";
  } catch {
    return otherwise;
  }
}

export function keepFlag(name: string, value: boolean): void {
  try {
    localStorage.setItem(`throughline/${name}`, value ? "yes" : "no");
  } catch {
    // Storage is full or blocked.
  }
}
