/** The model and its effort as one chip. Another model is taken only after the page has said what goes along to it. */

import { useState } from "preact/hooks";

import type { RemoteAgent, SwitchPreview } from "../../../access/client/index.ts";
import { EFFORT_NAMES, effortName, effortText } from "../effort-name.ts";
import { Icon } from "../look/icons.tsx";
import type { SessionView } from "../session-view.ts";
import type { Problems } from "../use-problem.ts";
import { Popover } from "./popover.tsx";

interface Props {
  readonly agent: RemoteAgent;
  readonly view: SessionView;
  readonly disabled: boolean;
  readonly problems: Problems;
}

export function ModelMenu({ agent, view, disabled, problems }: Props) {
  const { label, settings } = view.handle.model;
  const effort = settings.effort === undefined ? undefined : effortName(settings.effort);
  return (
    <Popover
      name={`Model ${label}${effort === undefined ? "" : `, effort ${effort}`}`}
      kind="panel"
      buttonClass="chip model-chip"
      disabled={disabled}
      button={
        <>
          <b>{label.split("/").slice(1).join("/") || label}</b>
          {effort === undefined ? null : <span>{effort}</span>}
          <Icon name="down" small />
        </>
      }
    >
      {(close) => <ModelChoice agent={agent} view={view} problems={problems} onDone={close} />}
    </Popover>
  );
}

interface ChoiceProps extends Omit<Props, "disabled"> {
  readonly onDone: () => void;
}

export function ModelChoice({ agent, view, problems, onDone }: ChoiceProps) {
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
      problems.clear();
    } catch (error) {
      problems.show(error);
      setChosen(undefined);
    }
  };
  const take = async (name: string): Promise<void> => {
    try {
      await handle.setModel(name);
      problems.clear();
    } catch (error) {
      problems.show(error);
    }
    onDone();
  };
  return (
    <div class="model-choice">
      <label>
        <span>Model</span>
        <select
          class="field"
          aria-label="Model"
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
        <span>Effort</span>
        <select
          class="field"
          aria-label="Effort"
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
      {chosen === undefined || loss === undefined || chosen === handle.model.label ? null : (
        <div class="switch" role="status">
          <p>{switchText(loss, chosen)}</p>
          <div class="card-buttons">
            <button type="button" class="button primary" onClick={() => void take(chosen)}>
              Switch to {chosen}
            </button>
            <button type="button" class="button" onClick={onDone}>
              Keep {handle.model.label}
            </button>
          </div>
        </div>
      )}
    </div>
  );
}

function switchText({ kept, dropped }: SwitchPreview, name: string): string {
  const total = kept + dropped;
  if (total === 0) return "There are no thoughts yet, so none stays behind.";
  const go = `${kept} of ${total} ${total === 1 ? "thought" : "thoughts"} ${kept === 1 ? "goes" : "go"} along to ${name}.`;
  if (dropped === 0) return go;
  return `${go} ${dropped === 1 ? "1 stays" : `${dropped} stay`} in the log for the model that made ${dropped === 1 ? "it" : "them"}.`;
}
