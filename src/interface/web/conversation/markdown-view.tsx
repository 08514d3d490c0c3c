/**
 * Draws Markdown of models and tools as elements, never as HTML: nothing that a text says can become a script, a form, a
 * frame or an image, because only the elements below are made, and every text is a text. Links show their target.
 */

import type { Token, Tokens } from "marked";
import type { ComponentChild, ComponentChildren } from "preact";

/** Draws one top-level part other than code. */
export function MarkdownPart({ part }: { readonly part: Token }) {
  return <>{blockOf(part, 0)}</>;
}

/** Deeper nesting than anybody reads; it also bounds the recursion. */
const DEEPEST = 24;

function blocksOf(tokens: readonly Token[] | undefined, depth: number): ComponentChildren {
  return depth > DEEPEST ? null : (tokens ?? []).map((token) => blockOf(token, depth));
}

function blockOf(token: Token, depth: number): ComponentChild {
  switch (token.type) {
    case "paragraph":
      return <p>{inlineOf(token.tokens, depth)}</p>;
    case "heading":
      return headingOf(token as Tokens.Heading, depth);
    case "list":
      return listOf(token as Tokens.List, depth);
    case "blockquote":
      return <blockquote>{blocksOf(token.tokens, depth + 1)}</blockquote>;
    case "code":
      // Code scrolls inside, so the keyboard must reach it.
      return (
        <pre tabIndex={0} role="group" aria-label="Code">
          <code>{(token as Tokens.Code).text}</code>
        </pre>
      );
    case "table":
      return tableOf(token as Tokens.Table, depth);
    case "hr":
      return <hr />;
    case "space":
    case "def":
    case "checkbox": // its list item has it
      return null;
    case "html":
      return <p class="plain">{withTags([token], depth)}</p>;
    case "text": // in a list item without blank lines
      return (
        <>
          {token.tokens === undefined ? decoded((token as Tokens.Text).text) : inlineOf(token.tokens, depth)}
        </>
      );
    default:
      return <p class="plain">{token.raw}</p>;
  }
}

/** The title of the session is the only heading of level 1. */
function headingOf({ depth: level, tokens }: Tokens.Heading, depth: number): ComponentChild {
  const Level = (["h2", "h2", "h3", "h4", "h5", "h6"] as const)[level - 1] ?? "h6";
  return <Level>{inlineOf(tokens, depth)}</Level>;
}

function listOf({ ordered, start, items }: Tokens.List, depth: number): ComponentChild {
  const children = items.map((item) => (
    <li class={item.task ? "task" : undefined}>
      {item.task ? (
        <span
          class={item.checked === true ? "box done" : "box"}
          role="img"
          aria-label={item.checked === true ? "done" : "to do"}
        />
      ) : null}
      {blocksOf(item.tokens, depth + 1)}
    </li>
  ));
  return ordered ? (
    <ol start={typeof start === "number" ? start : undefined}>{children}</ol>
  ) : (
    <ul>{children}</ul>
  );
}

function tableOf({ header, rows }: Tokens.Table, depth: number): ComponentChild {
  return (
    <div class="table" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>
            {header.map((cell) => (
              <th class={alignment(cell)}>{inlineOf(cell.tokens, depth)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells) => (
            <tr>
              {cells.map((cell) => (
                <td class={alignment(cell)}>{inlineOf(cell.tokens, depth)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function alignment({ align, header, text }: Tokens.TableCell): string | undefined {
  if (align === "right") return "number";
  if (align === "center") return "centre";
  // A column without a mark: figures read better at the right.
  return align === null && !header && /^[-+]?[\d.,]+(?: ?%| ?[a-zµ]{1,3})?$/i.test(text)
    ? "number"
    : undefined;
}

function inlineOf(tokens: readonly Token[] | undefined, depth: number): ComponentChildren {
  if (depth > DEEPEST) return (tokens ?? []).map(({ raw }) => raw);
  return withTags(tokens ?? [], depth + 1);
}

function inline(token: Token, depth: number): ComponentChild {
  switch (token.type) {
    case "text":
    case "escape":
      return token.type === "text" && "tokens" in token && token.tokens !== undefined
        ? inlineOf(token.tokens, depth)
        : decoded((token as Tokens.Text).text);
    case "strong":
      return <strong>{inlineOf(token.tokens, depth)}</strong>;
    case "em":
      return <em>{inlineOf(token.tokens, depth)}</em>;
    case "del":
      return <del>{inlineOf(token.tokens, depth)}</del>;
    case "codespan":
      return <code>{(token as Tokens.Codespan).text}</code>;
    case "br":
      return <br />;
    case "checkbox":
      return null;
    case "link":
      return linkOf(token as Tokens.Link, depth);
    case "image": {
      const { text, href } = token as Tokens.Image;
      return `${decoded(text)}${text === "" ? "" : " "}(${decoded(href)})`;
    }
    default:
      return token.raw;
  }
}

/** Only addresses that a person can judge; the rest is text. */
function linkOf({ href, tokens }: Tokens.Link, depth: number): ComponentChild {
  const target = decoded(href);
  if (!/^https?:\/\//i.test(target)) return <span>{inlineOf(tokens, depth)}</span>;
  const isBare = tokens.length === 1 && tokens[0]?.type === "text" && decoded(tokens[0].raw) === target;
  return (
    <a href={target} title={target} target="_blank" rel="noopener noreferrer nofollow">
      {inlineOf(tokens, depth)}
      {isBare ? "" : ` (${shortened(target)})`}
    </a>
  );
}

const TAG = /^<(\/?)(b|br|code|del|em|i|s|strong|sub|sup)\s*\/?>$/i;
type Tag = "b" | "code" | "del" | "em" | "i" | "s" | "strong" | "sub" | "sup";

/** Bare tags that models write in Markdown are drawn as what they mean. Any other HTML is shown as text. */
function withTags(tokens: readonly Token[], depth: number): ComponentChildren {
  const open: { readonly tag: Tag; readonly raw: string; readonly children: ComponentChild[] }[] = [];
  const root: ComponentChild[] = [];
  const add = (child: ComponentChild): void => {
    (open.at(-1)?.children ?? root).push(child);
  };
  for (const token of tokens) {
    const [, closes, name = ""] = token.type === "html" ? (TAG.exec(token.raw.trim()) ?? []) : [];
    const tag = name.toLowerCase();
    if (tag === "br") add(<br />);
    else if (tag !== "" && closes === "") open.push({ tag: tag as Tag, raw: token.raw, children: [] });
    else if (tag !== "" && open.at(-1)?.tag === tag) {
      const { tag: Element, children } = open.pop() as (typeof open)[number];
      add(<Element>{children}</Element>);
    } else add(inline(token, depth));
  }
  // A tag that is never closed is text.
  for (let last = open.pop(); last !== undefined; last = open.pop()) {
    add(last.raw);
    for (const child of last.children) add(child);
  }
  return root;
}

/** Character references as the characters they stand for. The parsed document is read as text and thrown away. */
function decoded(text: string): string {
  if (!/&[#\w]+;/.test(text)) return text;
  return text.replaceAll(/&[#\w]+;/g, (reference) => {
    const { textContent } = new DOMParser().parseFromString(reference, "text/html").documentElement;
    return textContent ?? reference;
  });
}

function shortened(address: string): string {
  return address.length > 60 ? `${address.slice(0, 57)}…` : address;
}
