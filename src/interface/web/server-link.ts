/**
 * Whether the server answers this page. Every request of the page goes through `fetch` here, so one place knows it. A
 * server that is away is asked again by itself. One that no longer knows this browser is asked when the person comes
 * back to the tab, or when another tab was let in.
 */

import { type Clock, codeOf, objectOf, onAbort, systemClock } from "../../base/support/index.ts";

/** `lost`: nobody answers. `login`: the server answers and does not know this browser. */
export type LinkState = "open" | "lost" | "login";

const FIRST_WAIT_MS = 1000;
const MOST_WAIT_MS = 8000;
/** What a balancer answers for a server that is gone, and a server that is stopping. */
const AWAY: ReadonlySet<number> = new Set([502, 503, 504]);
const CHANNEL = "throughline";

export class ServerLink {
  readonly #listeners = new Set<() => void>();
  readonly #sleepers = new Set<() => void>();
  readonly #tabs = new BroadcastChannel(CHANNEL);
  #state: LinkState = "open";
  #timer: ReturnType<typeof setTimeout> | undefined;
  #wait = FIRST_WAIT_MS;
  #nextTry: number | undefined;

  constructor() {
    this.#tabs.addEventListener("message", () => this.#look());
    addEventListener("focus", () => this.#look());
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible") this.#look();
    });
  }

  get state(): LinkState {
    return this.#state;
  }

  /** When the server is asked again, on the clock of `performance.now`. Undefined while it is being asked. */
  get nextTry(): number | undefined {
    return this.#nextTry;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** For `connect`: watches every answer. */
  readonly fetch: typeof fetch = async (input, init) => {
    let response: Response;
    try {
      response = await globalThis.fetch(input, init);
    } catch (error) {
      if (init?.signal?.aborted !== true) this.#set("lost");
      throw error;
    }
    if (response.status === 401) this.#set("login");
    else if (AWAY.has(response.status)) this.#set("lost");
    else if (response.status !== 429) this.#set("open"); // 429 is also the answer to many wrong keys
    return response;
  };

  /** For `connect`: its waits end early when the server is back, or when the person wants to try. */
  readonly clock: Clock = {
    ...systemClock,
    sleep: async (ms, signal) => {
      const woken = new AbortController();
      const wake = (): void => woken.abort();
      const forget = signal && onAbort(signal, wake);
      this.#sleepers.add(wake);
      await systemClock.sleep(ms, woken.signal).catch(() => undefined);
      this.#sleepers.delete(wake);
      forget?.();
      signal?.throwIfAborted();
    },
  };

  /** Asks the server now. Resolves when it answered or did not. */
  async tryNow(): Promise<void> {
    clearTimeout(this.#timer);
    this.#nextTry = undefined;
    this.#tell();
    this.#wake();
    try {
      await this.fetch("/api/server");
    } catch {
      // The state says it.
    }
    if (this.#state === "lost") this.#tryLater();
  }

  /** Resolves when the server answers this browser. */
  async opened(): Promise<void> {
    await this.tryNow();
    while (this.#state !== "open") {
      await new Promise<void>((resolve) => {
        const forget = this.subscribe(() => {
          forget();
          resolve();
        });
      });
    }
  }

  /** Lets this browser in with the link that the server printed. Returns what is wrong with it, if something is. */
  async login(text: string): Promise<string | undefined> {
    const code = codeIn(text.trim());
    if ("problem" in code) return code.problem;
    let response: Response;
    try {
      response = await globalThis.fetch(`/login?code=${encodeURIComponent(code.code)}`);
    } catch {
      return "The server does not answer yet. Your link stays here: try it again when the server runs.";
    }
    if (response.status === 429) return "There were too many tries. Wait a minute, then open the link again.";
    if (!response.ok)
      return "This link was used before, or is from an earlier start. Paste the newest one that the server printed.";
    this.tellTabs();
    await this.tryNow();
    return undefined;
  }

  /** This browser was let in: its other tabs can go on. */
  tellTabs(): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel reaches its own origin only
    this.#tabs.postMessage("open");
  }

  #look(): void {
    if (this.#state !== "open") void this.tryNow();
  }

  #set(state: LinkState): void {
    if (state === this.#state) return;
    this.#state = state;
    clearTimeout(this.#timer);
    this.#nextTry = undefined;
    this.#wait = FIRST_WAIT_MS;
    if (state === "lost") this.#tryLater();
    if (state === "open") this.#wake();
    this.#tell();
  }

  #tryLater(): void {
    clearTimeout(this.#timer);
    this.#nextTry = performance.now() + this.#wait;
    this.#timer = setTimeout(() => void this.tryNow(), this.#wait);
    this.#wait = Math.min(this.#wait * 2, MOST_WAIT_MS);
    this.#tell();
  }

  #wake(): void {
    for (const wake of this.#sleepers) wake();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** Nobody answered, or not to this browser, or the person left the session: the same request can succeed later. */
export function isAway(error: unknown): boolean {
  const status = objectOf(objectOf(error)["details"])["status"];
  return (
    ["server_unreachable", "log_closed"].includes(codeOf(error) ?? "") ||
    (typeof status === "number" && (status === 401 || AWAY.has(status)))
  );
}

function codeIn(text: string): { readonly code: string } | { readonly problem: string } {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return { problem: `That is not a link. The one that the server printed begins with ${location.origin}.` };
  }
  if (url.origin !== location.origin)
    return {
      problem: `This link leads to ${url.host === "" ? "another place" : url.host}, and this page belongs to ${location.host}. Nothing was opened.`,
    };
  const code = url.pathname === "/login" ? url.searchParams.get("code") : null;
  return code === null || code === ""
    ? { problem: "This link lets nobody in. Paste the whole link that the server printed." }
    : { code };
}

/** The page has one server. */
export const serverLink = new ServerLink();
