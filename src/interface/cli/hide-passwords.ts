/** Hides the password of an address that a person typed in the wrong place, before a message repeats the address. */

export function hidePasswords(text: string): string {
  return text.replaceAll(/([a-z][a-z\d+.-]*:\/\/[^\s/:@]*:)[^\s@]*@/gi, "$1[hidden]@");
}
