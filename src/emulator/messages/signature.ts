/**
 * Signatures of thinking and the data of redacted thinking: output of `Seal` that looks like the real thing (`Er…`,
 * `Em…`). One cannot replace the other, and ciphertext of another dialect opens as neither.
 */

import type { Seal, Sealed, SealedThinking } from "../seal.ts";

const heads: Readonly<Record<SealedThinking["kind"], string>> = { thinking: "Er", redacted_thinking: "Em" };

export type ThinkingPayload = Sealed & { readonly thinking: SealedThinking };

export function signatureOf(seal: Seal, sealed: ThinkingPayload, at: number): string {
  const text = seal.seal(sealed, at).replaceAll("-", "+").replaceAll("_", "/");
  return heads[sealed.thinking.kind] + text.slice(1);
}

/** Returns `undefined` if it is foreign, invented, damaged, or sealed with a rotated key. */
export function openSignature(
  seal: Seal,
  kind: SealedThinking["kind"],
  text: string,
): ThinkingPayload | undefined {
  const head = heads[kind];
  if (!text.startsWith(head) || /[-_]/.test(text)) return undefined;
  const opened = seal.open(`g${text.slice(head.length).replaceAll("+", "-").replaceAll("/", "_")}`);
  if (!opened.ok) return undefined;
  const { thinking } = opened.sealed;
  return thinking?.kind === kind ? { ...opened.sealed, thinking } : undefined;
}

/** The top bit of a tool id's index: its message began with thinking. */
const began = 0x80;

/** `toolu_` and 24 letters or digits, like real ones; contains the response and whether it began with thinking. */
export function toolId(
  seal: Seal,
  address: { readonly uid: string; readonly at: number; readonly index: number },
  options: { readonly beganThinking: boolean; readonly prefix?: string },
): string {
  const index = address.index | (options.beganThinking ? began : 0);
  return `${options.prefix ?? "toolu"}_${seal.callId({ ...address, index }).slice("call_".length)}`;
}

export function readToolId(
  seal: Seal,
  id: string,
): { readonly uid: string; readonly beganThinking: boolean } | undefined {
  const read = seal.readCallId(id.replace(/^toolu_/, "call_"));
  return read === undefined ? undefined : { uid: read.uid, beganThinking: (read.index & began) !== 0 };
}
