/**
 * What is to be undone after a test or after a test file, last made first. Fixtures add to these lists instead of
 * registering their own hooks: test files share a process and its modules, and a hook that a shared module registers
 * belongs only to the first of them. The hooks are in run-clean-ups.ts, which runs for every file.
 *
 * @module
 */

type CleanUp = () => unknown;

const ofTest: CleanUp[] = [];
const ofFile: CleanUp[] = [];

export function afterTest(cleanUp: CleanUp): void {
  ofTest.push(cleanUp);
}

export function afterFile(cleanUp: CleanUp): void {
  ofFile.push(cleanUp);
}

export const cleanUpTest = (): Promise<void> => runAll(ofTest);
export const cleanUpFile = (): Promise<void> => runAll(ofFile);

/** Runs all of them even if one fails, because leftovers would affect the next file. */
async function runAll(list: CleanUp[]): Promise<void> {
  const errors: unknown[] = [];
  for (let next = list.pop(); next !== undefined; next = list.pop()) {
    try {
      await next();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length === 1) throw errors[0];
  if (errors.length > 1) throw new AggregateError(errors, `${errors.length} clean-ups failed`);
}
