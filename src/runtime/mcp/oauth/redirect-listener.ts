/**
 * Where the browser of a person ends up after a login: an address on this machine, with a port of its own and one path.
 * That path answers one request, whatever it says. Nothing of the request is shown in the answer.
 */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

import { codedError, listenProblem } from "../../../base/support/index.ts";

const PATH = "/callback";
const MAX_URL = 16 * 1024;

export interface RedirectListener {
  readonly url: string;
  /** What came back. Pending until the browser arrives or the listener is closed. */
  readonly answer: Promise<URLSearchParams>;
  close(): void;
}

/** `accept` says whether the parameters belong to this login. */
export async function listenForRedirect(
  accept: (answer: URLSearchParams) => boolean,
): Promise<RedirectListener> {
  let arrived: ((answer: URLSearchParams) => void) | undefined;
  const answer = new Promise<URLSearchParams>((resolve) => {
    arrived = resolve;
  });
  let taken = false;
  let host = "";
  const server = createServer({ maxHeaderSize: 2 * MAX_URL }, (request, response) => {
    const params = taken ? undefined : redirectIn(request, host);
    if (params === undefined) return page(response, 404, "There is nothing here.");
    taken = true;
    const good = accept(params) && !params.has("error");
    page(
      response,
      good ? 200 : 400,
      good
        ? "You can close this page and go back to the terminal."
        : "The login did not work. The terminal says why.",
    );
    response.once("close", () => arrived?.(params));
  });
  server.requestTimeout = 10_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) =>
      reject(
        codedError(
          "mcp_login_failed",
          `cannot wait for the browser on this machine: ${listenProblem(error)}`,
          error,
        ),
      ),
    );
    server.listen({ host: "127.0.0.1", port: 0, exclusive: true }, resolve);
  });
  const address = server.address();
  host = `127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
  return {
    url: `http://${host}${PATH}`,
    answer,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** A request under another name comes from a page that had its name point to this machine. */
function redirectIn(request: IncomingMessage, host: string): URLSearchParams | undefined {
  const target = request.url ?? "";
  if (request.method !== "GET" || request.headers.host !== host || target.length > MAX_URL) return undefined;
  const [path, ...query] = target.split("?");
  return path === PATH ? new URLSearchParams(query.join("?")) : undefined;
}

function page(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    "content-type": "text/plain; charset=utf-8",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    connection: "close",
  });
  response.end(`${text}\n`);
}
