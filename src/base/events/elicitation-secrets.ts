/**
 * Says whether a form asks for a secret. A server must ask for one on its own page (`mode: "url"`), never through a form
 * that a program in between can read. The list errs on the side of refusing: a form that only mentions a password is
 * refused too.
 */

import type { Elicitation } from "./elicitation.ts";

/** In texts and names of any case; words of a name are separated before. */
const SECRET = new RegExp(
  [
    String.raw`\bpass ?(?:words?|wd|phrases?|codes?|keys?)\b`,
    String.raw`\bpwd\b`,
    String.raw`\bsecrets?\b`,
    String.raw`\btoken\b`,
    String.raw`\b(?:access|auth|api|bearer|id|refresh|session|security|secret|personal)\w* tokens\b`,
    String.raw`\b(?:api|access|account|private|secret|ssh|signing|encryption|licen[cs]e|master|recovery|security|shared|wallet) ?keys?\b`,
    String.raw`\bcredentials?\b`,
    String.raw`\bcv[cv2]2?\b`,
    String.raw`\b(?:card|account|routing|passport|social security|insurance) ?(?:number|no)\b`,
    String.raw`\b(?:credit|debit|bank|payment) ?cards?\b`,
    String.raw`\b(?:seed|recovery|backup|mnemonic|secret) ?(?:phrases?|words?|codes?)\b`,
    String.raw`\bmnemonics?\b`,
    String.raw`\b(?:security|verification|authenticat\w+|one time|two factor|sms|otp|2fa|mfa|login) ?codes?\b`,
    String.raw`\b(?:otp|totp|2fa|mfa|ssn|iban)\b`,
    String.raw`\bpins?(?: ?(?:codes?|numbers?|no))\b`,
    String.raw`\b(?:your|the|a|card|bank|sim) pin\b`,
    String.raw`\bcookies?\b`,
    String.raw`\bpass(?:wort|worter|worte)\b|\bkennwort\b|\bgeheimzahl\b|\bmot de passe\b|\bcontrasen[ay]a?\b|\bsenha\b|\bparola\b|\bwachtwoord\b|\bhaslo\b|\blosenord\b`,
  ].join("|"),
);
/** Scripts without spaces between words, or without case. */
const SECRET_ELSEWHERE =
  /пароль|пинкод|пин-код|密码|密碼|口令|パスワード|暗証番号|비밀번호|암호|كلمة المرور|סיסמה|पासवर्ड/iu;
const UNSEEN = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
/** In capitals in a text; as a name, in any case. A "pin" in a sentence may be one on a map. */
const PIN = /\bPIN\b/;

export function asksForSecret(request: Elicitation): boolean {
  if (request.mode !== "form") return false;
  const { message, fields } = request;
  const texts = [message, ...fields.flatMap(({ title, description }) => [title ?? "", description ?? ""])];
  const names = fields.map(({ name }) => name);
  return (
    [...texts, ...names].some(
      (text) =>
        SECRET.test(plain(text)) || SECRET_ELSEWHERE.test(text.normalize("NFKC").replaceAll(UNSEEN, "")),
    ) ||
    texts.some((text) => PIN.test(latin(bare(text)))) ||
    names.some((name) => /\bpin\b/.test(plain(name)))
  );
}

/** Letters that look like the Latin ones beside them, so that a word cannot be hidden by its script. */
const ALIKE: ReadonlyMap<string, string> = new Map(
  Array.from(
    "аaсcеeоoрpхxуyіiјjѕsһhԁdкkмmтtвbнhΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧXοoαaρpνvιiκk".matchAll(/(.)(.)/gu),
  ).map(([, from = "", to = ""]) => [from, to]),
);

/** Without marks and invisible characters; full-width and mathematical letters as plain ones. */
function bare(text: string): string {
  return text.normalize("NFKD").replaceAll(/[\p{M}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, "");
}

function latin(text: string): string {
  return Array.from(text, (char) => ALIKE.get(char) ?? ALIKE.get(char.toLowerCase()) ?? char).join("");
}

/** Lower case, with words separated by one space: `apiKey`, `API_KEY` and `api-key` are the same. */
function plain(text: string): string {
  return latin(bare(text).replaceAll("ł", "l"))
    .replaceAll(/(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, " ")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ");
}
