/** Hides the password of an address that a person typed in the wrong place, before a message repeats the address. */

export function hidePasswords(text: string): string {
  // Up to the last @: a user name or a password may hold one.
  return text.replaceAll(/([a-z][a-z\d+.-]*:\/\/[^\s:]*:)\S*@/gi, "$1[hidden]@");
}
