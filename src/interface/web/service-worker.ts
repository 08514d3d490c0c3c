/**
 * Keeps a copy of the page itself in the browser, for a reload while the server is away or does not know the browser: the
 * page then shows what was typed and how to go on. The server is asked first every time, so the copy is never older than
 * the last answer. Only the page's own files are kept; requests of the API do not pass here.
 */

/** The types of a service worker exclude those of a page, and one project has both. */
interface Worker {
  readonly location: Location;
  addEventListener(name: "install" | "activate", listener: (event: Waiting) => void): void;
  addEventListener(name: "fetch", listener: (event: Fetching) => void): void;
  skipWaiting(): Promise<void>;
  readonly clients: { claim(): Promise<void> };
}
interface Waiting {
  waitUntil(work: Promise<unknown>): void;
}
interface Fetching extends Waiting {
  readonly request: Request;
  respondWith(answer: Promise<Response>): void;
}

const worker = globalThis as unknown as Worker;
const COPY = "throughline-page";
const START = "/";
/** What a balancer answers for a server that is gone. */
const AWAY: ReadonlySet<number> = new Set([502, 503, 504]);

worker.addEventListener("install", (event) =>
  event.waitUntil(Promise.all([copyPage(), worker.skipWaiting()])),
);
worker.addEventListener("activate", (event) => event.waitUntil(worker.clients.claim()));
worker.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== worker.location.origin) return;
  if (request.mode === "navigate" && /^\/(?:s\/[^/]+)?$/.test(pathname)) event.respondWith(page(event));
  else if (pathname.startsWith("/assets/")) event.respondWith(asset(request));
});

async function page(event: Fetching): Promise<Response> {
  let answer: Response;
  try {
    answer = await fetch(event.request);
  } catch (error) {
    const copy = await caches.match(START);
    if (copy === undefined) throw error;
    return copy;
  }
  if (answer.ok) event.waitUntil(copyPage().catch(() => undefined));
  const isOurRefusal = answer.status === 401 && answer.headers.get("www-authenticate") === "Bearer";
  if (!isOurRefusal && !AWAY.has(answer.status)) return answer;
  return (await caches.match(START)) ?? answer;
}

/** Its name has a hash of its content, so a copy is as good as the file. */
async function asset(request: Request): Promise<Response> {
  const copy = await caches.match(request);
  if (copy !== undefined) return copy;
  const answer = await fetch(request);
  if (answer.ok) await copyAsset(request, answer.clone()).catch(() => undefined); // there may be no room
  return answer;
}

async function copyAsset(request: Request, answer: Response): Promise<void> {
  await (await caches.open(COPY)).put(request, answer);
}

/** Copies the start page and the files it names, if they changed. */
async function copyPage(): Promise<void> {
  const start = await fetch(START);
  if (!start.ok) return;
  const html = await start.clone().text();
  const copied = await (await caches.match(START))?.text();
  if (copied === html) return;
  const files = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].flatMap(([, file]) => file ?? []);
  await caches.delete(COPY);
  const copy = await caches.open(COPY);
  await copy.addAll(files);
  await copy.put(START, start); // last: without its files it would show nothing
}

// oxlint-disable-next-line unicorn/require-module-specifiers -- makes the file a module, and is not in the output
export {};
