/**
 * Registers any number of abort callbacks with one listener on the signal itself. A shared signal (for all followers of
 * a session, all tools of a step) would otherwise collect a listener for each, and Node reports more than ten as a leak
 * (`MaxListenersExceededWarning`).
 */

interface Shared {
  readonly listeners: Set<() => void>;
  readonly notifyAll: () => void;
}

const shared = new WeakMap<AbortSignal, Shared>();

/** Calls back once when the signal aborts, but not if it already has. The returned function stops listening. */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  const { listeners, notifyAll } = shared.get(signal) ?? share(signal);
  const own = (): void => listener();
  listeners.add(own);
  return () => {
    if (!listeners.delete(own) || listeners.size > 0) return;
    signal.removeEventListener("abort", notifyAll);
    shared.delete(signal);
  };
}

function share(signal: AbortSignal): Shared {
  const listeners = new Set<() => void>();
  const notifyAll = (): void => {
    shared.delete(signal);
    for (const listener of listeners) listener();
    listeners.clear();
  };
  signal.addEventListener("abort", notifyAll, { once: true });
  const made = { listeners, notifyAll };
  shared.set(signal, made);
  return made;
}

/** Waits for a promise, but no longer than the signal allows: resolves to undefined as soon as the signal aborts. */
export function untilAborted<Value>(
  promise: Promise<Value>,
  signal: AbortSignal,
): Promise<Value | undefined> {
  if (signal.aborted) {
    promise.catch(() => undefined); // its result is no longer awaited
    return Promise.resolve(undefined);
  }
  return new Promise((resolve, reject) => {
    const forget = onAbort(signal, () => resolve(undefined));
    promise.then(resolve, reject).finally(forget);
  });
}
