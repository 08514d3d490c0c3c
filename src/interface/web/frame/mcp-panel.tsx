/** The MCP servers of the session's agent: state, tools, what is wrong and what to do, and a button to connect again. */

import { useEffect, useState } from "preact/hooks";

import { type McpServerView, mcpServerWords } from "../../../base/api/index.ts";
import { unmistakableLine } from "../../../base/support/index.ts";
import { Problem } from "../look/problem.tsx";
import type { SessionView } from "../session-view.ts";
import { useProblem } from "../use-problem.ts";

/** No event tells of a server that answers between turns. */
const LOOK_AGAIN_MS = 1000;

export function McpPanel({ view }: { readonly view: SessionView }) {
  const { handle, busy } = view;
  const [servers, setServers] = useState<readonly McpServerView[]>();
  const [connecting, setConnecting] = useState<string>();
  const { problem, show: showProblem, clear } = useProblem();
  const show = async (load: Promise<readonly McpServerView[]>): Promise<void> => {
    try {
      setServers(await load);
      clear();
    } catch (error) {
      showProblem(error);
    }
  };
  useEffect(() => void show(handle.mcpServers()), [handle, busy]);
  const waits = servers?.some(({ state }) => state === "connecting") === true;
  useEffect(() => {
    if (!waits || connecting !== undefined) return undefined;
    const timer = setTimeout(() => void show(handle.mcpServers()), LOOK_AGAIN_MS);
    return () => clearTimeout(timer);
  }, [servers, connecting]);
  const connect = async (name: string): Promise<void> => {
    setConnecting(name);
    await show(handle.reconnectMcp(name));
    setConnecting(undefined);
  };
  return (
    <div class="servers" role="group" aria-label="MCP servers">
      {servers === undefined ? <p role="status">Loading the MCP servers…</p> : null}
      {servers?.length === 0 ? <p>There are no MCP servers.</p> : null}
      <ul role="list">
        {(servers ?? []).map((server) => (
          <li key={server.name}>
            <Server
              server={
                connecting === server.name ? { ...server, state: "connecting", problem: undefined } : server
              }
              onConnect={connecting === undefined ? () => void connect(server.name) : undefined}
            />
          </li>
        ))}
      </ul>
      <Problem problem={problem} />
    </div>
  );
}

interface ServerProps {
  readonly server: McpServerView;
  /** Undefined while one is being connected. */
  readonly onConnect: (() => void) | undefined;
}

function Server({ server, onConnect }: ServerProps) {
  const { symbol, state, tools, problem, advice } = mcpServerWords(server);
  const name = unmistakableLine(server.name);
  const shown = server.toolNames.map((one) => unmistakableLine(one));
  return (
    <>
      <p role="status">
        <span aria-hidden="true">{symbol}</span> <strong>{name}</strong> {state}
        {tools === "" ? "" : `, ${tools}`}
        {problem === undefined || server.state === "lost" ? "" : `: ${problem}`}
        {advice === undefined ? "" : ` (${advice})`}
      </p>
      {server.leftOut.map((one) => (
        <p key={one} class="meta wraps">
          left out: {unmistakableLine(one)}
        </p>
      ))}
      {shown.length === 0 ? null : (
        <details>
          <summary>Tools of {name}</summary>
          <ul role="list">
            {shown.map((one) => (
              <li key={one}>
                <code>{one}</code>
              </li>
            ))}
          </ul>
        </details>
      )}
      {server.state === "disabled" ? null : (
        // Not disabled, which would take the focus away from whoever pressed it.
        <button type="button" class="button" aria-disabled={onConnect === undefined} onClick={onConnect}>
          Connect {name} again
        </button>
      )}
    </>
  );
}
