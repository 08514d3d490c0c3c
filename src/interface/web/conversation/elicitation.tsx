/**
 * The question of a running tool: a form, or an address to open. Everything in it comes from the server and is shown as
 * text, exactly. Nothing opens by itself, and nothing is sent before the person says so.
 */

import { useState } from "preact/hooks";

import {
  checkElicitationValues,
  type Elicitation as Asked,
  type ElicitationAnswer,
  type ElicitationField,
  type ElicitationValue,
  hostOfAddress,
  plainAddress,
  readElicitation,
} from "../../../base/events/index.ts";
import { unmistakable, unmistakableLine } from "../../../base/support/index.ts";
import type { BlockElicitation } from "../../fragments/index.ts";
import { Problem } from "../look/problem.tsx";
import type { SessionView } from "../session-view.ts";
import { useProblem } from "../use-problem.ts";
import { FieldInput } from "./elicitation-field.tsx";

interface Props {
  readonly question: BlockElicitation;
  readonly view: SessionView;
}

type Values = Readonly<Record<string, ElicitationValue>>;

export function Elicitation({ question, view }: Props) {
  const { problem, attempt } = useProblem();
  const { requestId } = question;
  const answer = (given: ElicitationAnswer): void => {
    attempt(() => view.handle.answer(requestId, given));
  };
  const decline = (): void => answer({ action: "decline" });
  // The log may come from anywhere, so what it says is checked again.
  const read = readElicitation(question.asked);
  const server = unmistakableLine(question.asked.server);
  return (
    <div class="card permission" role="group" tabIndex={-1} aria-label={`Question of ${server}`}>
      <p>
        <code>{server}</code> asks
        {read.ok && read.value.mode === "url" ? " you to open a page" : " for input"}:
      </p>
      {read.ok ? (
        <>
          <p class="plain said">{unmistakable(read.value.message)}</p>
          {read.value.mode === "form" ? (
            <Form asked={read.value} id={requestId} onSend={answer} onDecline={decline} />
          ) : (
            <Address url={read.value.url} onSend={answer} onDecline={decline} />
          )}
        </>
      ) : (
        <>
          <p>This question cannot be shown: it {read.problem}.</p>
          <div class="card-buttons">
            <button type="button" class="button primary" onClick={decline}>
              Decline
            </button>
          </div>
        </>
      )}
      <Problem problem={problem} />
    </div>
  );
}

interface Answering {
  readonly onSend: (answer: ElicitationAnswer) => void;
  readonly onDecline: () => void;
}

interface FormProps extends Answering {
  readonly asked: Extract<Asked, { readonly mode: "form" }>;
  readonly id: string;
}

function Form({ asked, id, onSend, onDecline }: FormProps) {
  const { fields } = asked;
  const [values, setValues] = useState<Values>(() => defaultsOf(fields));
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({});
  const inputId = (at: number): string => `${id}-${at}`;
  return (
    <form
      noValidate
      autocomplete="off"
      aria-label={`Form of ${unmistakableLine(asked.server)}`}
      onSubmit={(event) => {
        event.preventDefault();
        const checked = checkElicitationValues(fields, values);
        setProblems(checked.ok ? {} : checked.problems);
        // What was left out stays an empty text: an absent value would get its default.
        if (checked.ok) onSend({ action: "accept", content: values });
        else document.getElementById(inputId(firstIn(fields, checked.problems)))?.focus();
      }}
    >
      {fields.map((field, at) => (
        <FieldInput
          key={field.name}
          field={field}
          id={inputId(at)}
          value={values[field.name] ?? ""}
          problem={Object.hasOwn(problems, field.name) ? problems[field.name] : undefined}
          onChange={(value) => setValues((before) => withValue(before, field.name, value))}
        />
      ))}
      <p class="meta wraps">
        What you type goes to <code>{unmistakableLine(asked.server)}</code> only. Never type a password here.
      </p>
      <div class="card-buttons">
        <button type="submit" class="button">
          Send
        </button>
        <button type="button" class="button primary" onClick={onDecline}>
          Decline
        </button>
      </div>
    </form>
  );
}

function Address({ url, onSend, onDecline }: Answering & { readonly url: string }) {
  const host = hostOfAddress(url);
  const address = plainAddress(url);
  return (
    <>
      <p>
        The page belongs to <strong class="host">{host}</strong>. Open it only if you expected this.
      </p>
      <pre class="output exact" tabIndex={0}>
        {address}
      </pre>
      <p>
        <a href={address} target="_blank" rel="noopener noreferrer">
          Open {host} in a new tab
        </a>
      </p>
      <div class="card-buttons">
        <button type="button" class="button" onClick={() => onSend({ action: "accept", content: {} })}>
          I am done
        </button>
        <button type="button" class="button primary" onClick={onDecline}>
          Decline
        </button>
      </div>
    </>
  );
}

/** Own properties only: a field may be called `__proto__`. */
function withValue(values: Values, name: string, value: ElicitationValue): Values {
  return Object.fromEntries([...Object.entries(values).filter(([one]) => one !== name), [name, value]]);
}

function defaultsOf(fields: readonly ElicitationField[]): Values {
  return Object.fromEntries(
    fields.map(({ name, default: value }) => [
      name,
      typeof value === "boolean" ? (value ? "yes" : "no") : (value ?? ""),
    ]),
  );
}

function firstIn(fields: readonly ElicitationField[], problems: Readonly<Record<string, string>>): number {
  return fields.findIndex(({ name }) => Object.hasOwn(problems, name));
}

const ACTION_WORDS = { accept: "answered", decline: "declined", cancel: "cancelled" } as const;

/** What a tool asked before, and what it was told. The values were never kept. */
export function Asked({ question }: { readonly question: BlockElicitation }) {
  const { asked, action, by, waits } = question;
  const answer = action === undefined ? (waits ? "waits for an answer" : "no answer") : ACTION_WORDS[action];
  return (
    <p class="meta wraps">
      <code>{unmistakableLine(asked.server)}</code> asked: {unmistakableLine(asked.message)} · {answer}
      {by === "policy" ? ", not by a person" : ""}
    </p>
  );
}
