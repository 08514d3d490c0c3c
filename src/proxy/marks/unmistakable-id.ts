/** Ids that a client got from a provider, and no other answer has: random ones. `call_1` and `bash:0` repeat. */
export function isUnmistakableId(id: string): boolean {
  return (id.match(/[0-9A-Za-z]{8,}/g) ?? []).some((run) => {
    const changes = (run.match(/\d(?=[A-Za-z])|[A-Za-z](?=\d)/g) ?? []).length;
    return changes >= 2;
  });
}
