/** The entry of the page: connects to the server that sent it, then shows the interface. */

import { render } from "preact";

import { connect } from "../../access/client/index.ts";
import { messageOf } from "../../base/support/index.ts";
import { App } from "./app.tsx";

const place = document.getElementById("app");

async function start(root: HTMLElement): Promise<void> {
  try {
    const agent = await connect(location.origin);
    render(<App agent={agent} />, root);
  } catch (error) {
    render(
      <main class="failure" role="alert">
        <h1>Cannot reach the server</h1>
        <p>{messageOf(error)}</p>
        <p>Start it again with “throughline serve” and open the link it prints.</p>
      </main>,
      root,
    );
  }
}

if (place !== null) void start(place);
