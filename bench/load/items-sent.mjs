/**
 * The items in the body of a request, in order: what the correctness check compares.
 *
 * @module
 */

/** Enough of a ciphertext to identify it. */
export function known(ciphertext) {
  return `${ciphertext.length} ${ciphertext.slice(0, 16)} ${ciphertext.slice(-16)}`;
}

export function itemsSent(body) {
  const { input } = body.length === 0 ? {} : JSON.parse(body.toString());
  const items = Array.isArray(input) ? input : [];
  const outputs = items.filter(({ type }) => type === "function_call_output");
  return {
    items: items.length,
    outputs: outputs.length,
    outputChars: outputs.reduce((sum, { output }) => sum + output.length, 0),
    ciphertexts: items.flatMap(({ encrypted_content: text }) => (text === undefined ? [] : [known(text)])),
  };
}
