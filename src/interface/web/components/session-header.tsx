/** The title and usage of a session, the model picker with a preview of what a switch leaves behind, and history actions. */

import { useState } from "preact/hooks";

import type { RemoteAgent, SwitchPreview } from "../../../access/client/index.ts";
import { messageOf } from "../../../base/support/index.ts";
import { EFFORT_NAMES, effortName, effortText } from "../effort-name.ts";
import { focusWhenShown } from "../focus-when-shown.ts";
import { compact, dollars } from "../numbers.ts";
import type { SessionView } from "../session-view.ts";
import { useVersion } from "../use-version.ts";
import { ExportPanel } from "./export-panel.tsx";
import { McpPanel } from "./mcp-panel.tsx";
import { Problem } from "./problem.tsx";

interface Props {
  readonly agent: RemoteAgent;
  readonly view: SessionView;
  readonly onOpen: (id: string) => void;
  readonly onRemoved: (id: string) => Promise<void>;
}

export function SessionHeader({ agent, view, onOpen, onRemoved }: Props) {
  useVersion(view);
  const { handle } = view;
  const { usage, context, model } = handle;
  const [problem, setProblem] = useState<string>();
  const [deleting, setDeleting] = useState(false);
  const [exporting, setExporting] = useState(false);
  const [servers, setServers] = useState(false);
  const attempt = (work: () => Promise<unknown>): void => {
    work().then(
      () => setProblem(undefined),
      (error: unknown) => setProblem(messageOf(error)),
    );
  };
  const writable = handle.access === "write";
  const still = writable && !view.busy && view.blocks.length > 0;
  const facts = [
    `↑${compact(usage.inputTokens)}${usage.cachedTokens === 0 ? "" : ` (${compact(usage.cachedTokens)} cached)`}`,
    `↓${compact(usage.outputTokens)}${usage.reasoningTokens === 0 ? "" : ` (${compact(usage.reasoningTokens)} reasoning)`}`,
    dollars(handle.costUsd),
    typeof context?.fraction === "number" ? `context ${Math.round(context.fraction * 100)} %` : undefined,
    `${model.label}${model.settings.effort === undefined ? "" : `:${effortName(model.settings.effort)}`}`,
  ].filter((fact) => fact !== undefined);
  return (
    <header class="session-header">
      <h1>{handle.title ?? "New session"}</h1>
      <ModelPicker agent={agent} view={view} disabled={!writable} onProblem={setProblem} />
      <p class="usage" aria-label="Usage">
        {facts.join(" · ")}
      </p>
      <div class="actions" role="group" aria-label="History">
        <button type="button" disabled={!still} onClick={() => attempt(() => handle.retry().result())}>
          Retry
        </button>
        <button type="button" disabled={!still} onClick={() => attempt(() => handle.undo())}>
          Undo
        </button>
        <button type="button" onClick={() => attempt(async () => onOpen((await handle.fork()).id))}>
          Fork
        </button>
        <button type="button" disabled={!still} onClick={() => attempt(() => handle.compact())}>
          Compact
        </button>
        <button
          type="button"
          disabled={view.blocks.length === 0}
          aria-expanded={exporting}
          onClick={() => setExporting(!exporting)}
        >
          Export
        </button>
        <button type="button" aria-expanded={servers} onClick={() => setServers(!servers)}>
          MCP
        </button>
        {deleting ? null : (
          <button type="button" disabled={!writable || view.busy} onClick={() => setDeleting(true)}>
            Delete
          </button>
        )}
      </div>
      {exporting ? <ExportPanel id={handle.id} onDone={() => setExporting(false)} /> : null}
      {servers ? <McpPanel view={view} onDone={() => setServers(false)} /> : null}
      {deleting ? (
        <div class="switch" role="group" aria-label="Delete this session">
          <span>Delete this session and its log permanently?</span>
          <button type="button" class="primary" ref={focusWhenShown} onClick={() => setDeleting(false)}>
            Keep it
          </button>
          <button type="button" class="danger" onClick={() => attempt(async () => onRemoved(handle.id))}>
            Delete permanently
          </button>
        </div>
      ) : null}
      {handle.connection === "lost" ? (
        <p class="lost" role="status">
          Connection lost. Reconnecting… Last event: {handle.lastSeq}.
        </p>
      ) : null}
      {writable ? null : (
        <p class="lost" role="status">
          Another process is writing this session. You can only watch it here.
        </p>
      )}
      <Problem text={problem ?? view.problem} />
    </header>
  );
}

interface PickerProps {
  readonly agent: RemoteAgent;
  readonly view: SessionView;
  readonly disabled: boolean;
  readonly onProblem: (message: string | undefined) => void;
}

function ModelPicker({ agent, view, disabled, onProblem }: PickerProps) {
  const { handle } = view;
  const [chosen, setChosen] = useState<string>();
  const [loss, setLoss] = useState<SwitchPreview>();
  const { effort: asked } = handle.model.settings;
  const effort = asked === undefined ? undefined : effortName(asked);
  // Show a level that this page does not know, too.
  const efforts = [...new Set<string>([...EFFORT_NAMES, ...(effort === undefined ? [] : [effort])])];
  const names = [...new Set([handle.model.label, ...agent.server.models])];
  const choose = async (name: string): Promise<void> => {
    setChosen(name);
    setLoss(undefined);
    try {
      setLoss(await handle.previewSwitch(name));
      onProblem(undefined);
    } catch (error) {
      onProblem(messageOf(error));
      setChosen(undefined);
    }
  };
  const take = async (name: string): Promise<void> => {
    try {
      await handle.setModel(name);
      onProblem(undefined);
    } catch (error) {
      onProblem(messageOf(error));
    }
    setChosen(undefined);
  };
  return (
    <div class="model-picker">
      <label>
        Model{" "}
        <select
          disabled={disabled}
          value={chosen ?? handle.model.label}
          onChange={(event) => void choose(event.currentTarget.value)}
        >
          {names.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        Effort{" "}
        <select
          disabled={disabled}
          value={effort ?? ""}
          onChange={(event) => void take(`${handle.model.label}:${event.currentTarget.value}`)}
        >
          <option value="" disabled>
            default
          </option>
          {efforts.map((one) => (
            <option key={one} value={one}>
              {effortText(one)}
            </option>
          ))}
        </select>
      </label>
      {chosen === undefined || loss === undefined ? null : (
        <div class="switch" role="status">
          <span>{switchText(loss, chosen)}</span>
          <button type="button" class="primary" onClick={() => void take(chosen)}>
            Switch to {chosen}
          </button>
          <button type="button" onClick={() => setChosen(undefined)}>
            Keep {handle.model.label}
          </button>
        </div>
      )}
    </div>
  );
}

function switchText({ kept, dropped }: SwitchPreview, name: string): string {
  if (kept + dropped === 0) return "There is no reasoning yet, so none is lost.";
  if (dropped === 0)
    return `All reasoning so far goes to ${name} (${kept} ${kept === 1 ? "item" : "items"}).`;
  const stay = dropped === 1 ? "1 reasoning item stays" : `${dropped} reasoning items stay`;
  return `${stay} in the log for the model that produced ${dropped === 1 ? "it" : "them"}; ${kept === 0 ? "none" : kept} ${kept > 1 ? "go" : "goes"} to ${name}.`;
}
