/**
 * Whether a text consists of base64 characters, with padding only at its end. Written without a pattern that backtracks:
 * for an image of some megabytes V8 would run out of room.
 */
export function isBase64Text(text: string): boolean {
  const end = text.indexOf("=");
  const body = end === -1 ? text : text.slice(0, end);
  const padding = end === -1 ? "" : text.slice(end);
  return (
    body !== "" && (padding === "" || padding === "=" || padding === "==") && !/[^A-Za-z0-9+/]/.test(body)
  );
}
