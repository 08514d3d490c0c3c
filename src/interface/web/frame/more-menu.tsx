/** What else can be done with a session: rename, undo, fork, compact, export, MCP servers, and last delete. */

import { useState } from "preact/hooks";

import type { RemoteAgent } from "../../../access/client/index.ts";
import { focusWhenShown } from "../focus-when-shown.ts";
import { loadedLater } from "../loaded-later.tsx";
import { Icon } from "../look/icons.tsx";
import type { SessionView } from "../session-view.ts";
import type { Problems } from "../use-problem.ts";
import { ModelChoice } from "./model-menu.tsx";
import { Popover } from "./popover.tsx";
import { Sheet } from "./sheet.tsx";

const ExportPanel = loadedLater(async () => (await import("./export-panel.tsx")).ExportPanel);
const McpPanel = loadedLater(async () => (await import("./mcp-panel.tsx")).McpPanel);

interface Props {
  readonly agent: RemoteAgent;
  readonly view: SessionView;
  readonly onOpen: (id: string) => void;
  readonly onRemoved: (id: string) => Promise<void>;
  readonly onInspector: () => void;
  readonly problems: Problems;
}

type Shown = "model" | "rename" | "export" | "mcp" | "delete";

export function MoreMenu({ agent, view, onOpen, onRemoved, onInspector, problems }: Props) {
  const { attempt } = problems;
  const { handle } = view;
  const [shown, setShown] = useState<Shown>();
  const hide = (): void => setShown(undefined);
  const canWrite = handle.access === "write";
  const isStill = canWrite && !view.busy && view.blocks.length > 0;
  const items: readonly (readonly [name: string, enabled: boolean, act: () => void])[] = [
    ["Model and effort", canWrite, () => setShown("model")],
    ["Rename", canWrite, () => setShown("rename")],
    ["Undo", isStill, () => attempt(() => handle.undo())],
    ["Fork", view.blocks.length > 0, () => attempt(async () => onOpen((await handle.fork()).id))],
    ["Compact", isStill, () => attempt(() => handle.compact())],
    ["Export", view.blocks.length > 0, () => setShown("export")],
    ["MCP servers", true, () => setShown("mcp")],
    ["Inspector", true, onInspector],
  ];
  return (
    <>
      <Popover
        name="More: rename, undo, fork, compact, export, delete"
        kind="menu"
        buttonClass="icon-button"
        button={<Icon name="more" />}
      >
        {(close) => (
          <>
            {items.map(([name, enabled, act]) => (
              <button
                key={name}
                type="button"
                role="menuitem"
                class="menu-item"
                disabled={!enabled}
                onClick={() => {
                  close();
                  act();
                }}
              >
                {name}
              </button>
            ))}
            <hr />
            <button
              type="button"
              role="menuitem"
              class="menu-item danger"
              disabled={!canWrite || view.busy}
              onClick={() => {
                close();
                setShown("delete");
              }}
            >
              Delete
            </button>
          </>
        )}
      </Popover>
      {shown === "model" ? (
        <Sheet title="Model and effort" onClose={hide}>
          <ModelChoice agent={agent} view={view} problems={problems} onDone={hide} />
        </Sheet>
      ) : null}
      {shown === "rename" ? (
        <Rename
          title={handle.title ?? ""}
          onClose={hide}
          onRename={(title) => {
            hide();
            attempt(() => handle.rename(title));
          }}
        />
      ) : null}
      {shown === "export" ? (
        <Sheet title="Export this session" onClose={hide}>
          <ExportPanel id={handle.id} onDone={hide} />
        </Sheet>
      ) : null}
      {shown === "mcp" ? (
        <Sheet title="MCP servers" onClose={hide}>
          <McpPanel view={view} />
        </Sheet>
      ) : null}
      {shown === "delete" ? (
        <Sheet title="Delete this session?" onClose={hide}>
          <p>Its log is removed permanently, with everything the model thought in it.</p>
          <div class="card-buttons">
            <button type="button" class="button" ref={focusWhenShown} onClick={hide}>
              Keep it
            </button>
            <button
              type="button"
              class="button danger"
              onClick={() => {
                hide();
                attempt(() => onRemoved(handle.id));
              }}
            >
              Delete permanently
            </button>
          </div>
        </Sheet>
      ) : null}
    </>
  );
}

interface RenameProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly onRename: (title: string) => void;
}

function Rename({ title, onClose, onRename }: RenameProps) {
  const [text, setText] = useState(title);
  return (
    <Sheet title="Rename this session" onClose={onClose}>
      <form
        class="rename"
        aria-label="Rename"
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() !== "") onRename(text.trim());
        }}
      >
        <input
          ref={focusWhenShown}
          class="field"
          aria-label="Title"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit" class="button primary" disabled={text.trim() === ""}>
          Rename
        </button>
      </form>
    </Sheet>
  );
}
