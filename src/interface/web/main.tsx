/**
 * The entry of the page: connects to the server that sent it, then shows the interface. While no server answers, it
 * shows what this browser keeps, and goes on by itself when one does.
 */

import { render } from "preact";

import { connect } from "../../access/client/index.ts";
import { messageOf } from "../../base/support/index.ts";
import { App } from "./app.tsx";
import { StartAway } from "./composer/start-away.tsx";
import { serverLink } from "./server-link.ts";

const place = document.getElementById("app");

async function start(root: HTMLElement): Promise<void> {
  const showAway = (): void => {
    const { state } = serverLink;
    if (state !== "open") render(<StartAway away={state} session={sessionInAddress()} />, root);
  };
  const forget = serverLink.subscribe(showAway);
  for (;;) {
    try {
      const agent = await connect(location.origin, { fetch: serverLink.fetch, clock: serverLink.clock });
      forget();
      render(<App agent={agent} />, root);
      serverLink.tellTabs();
      keepPage();
      return;
    } catch (error) {
      if (serverLink.state === "open") {
        forget();
        return showFailure(root, messageOf(error));
      }
      await serverLink.opened();
    }
  }
}

/** Without it, a reload while the server is away shows the browser's own page; the draft is kept all the same. */
function keepPage(): void {
  if ("serviceWorker" in navigator)
    navigator.serviceWorker.register("/service-worker.js").catch(() => undefined);
}

/** A server that answers, and cannot be used with this page. */
function showFailure(root: HTMLElement, why: string): void {
  render(
    <main class="failure" role="alert">
      <h1>This page does not fit its server</h1>
      <p>{why}</p>
      <p>Load the page again. What you typed stays in this browser.</p>
    </main>,
    root,
  );
}

function sessionInAddress(): string | undefined {
  const found = /^\/s\/([^/]+)$/.exec(location.pathname)?.[1];
  try {
    return found === undefined ? undefined : decodeURIComponent(found);
  } catch {
    return undefined;
  }
}

if (place !== null) void start(place);
