/**
 * Formats JSON for reading and keeps every token. Parsing and rewriting it would change numbers.
 */

export function prettyJson(text: string, indent: string): string {
  let out = "";
  let depth = 0;
  let at = 0;
  const line = (): string => `\n${indent}${"  ".repeat(depth)}`;
  while (at < text.length) {
    const char = text[at] ?? "";
    if (char === '"') {
      const end = endOfString(text, at);
      out += text.slice(at, end);
      at = end;
      continue;
    }
    at += 1;
    if (/\s/.test(char)) continue;
    if (char === "{" || char === "[") {
      const close = char === "{" ? "}" : "]";
      const next = nextSolid(text, at);
      if (text[next] === close) {
        out += char + close;
        at = next + 1;
      } else {
        depth += 1;
        out += char + line();
      }
    } else if (char === "}" || char === "]") {
      depth -= 1;
      out += line() + char;
    } else if (char === ",") out += `,${line()}`;
    else out += char === ":" ? ": " : char;
  }
  return out;
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}

function nextSolid(text: string, start: number): number {
  let at = start;
  while (at < text.length && /\s/.test(text[at] ?? "")) at += 1;
  return at;
}
