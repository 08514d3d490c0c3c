/**
 * Keeps what V8 has compiled for the classes that work on every event of a stream. When a full garbage collection finds
 * no object of a class, V8 forgets how its objects look and discards the code it compiled for them, so every answer after
 * a pause would begin as slowly as the first. One idle object of each class prevents that.
 */

const idle: object[] = [];

/** Takes an object that nothing else has: it must not keep a session or its texts in memory. */
export function stayCompiled(...one: readonly object[]): void {
  idle.push(...one);
}
