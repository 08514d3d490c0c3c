/** Names the tests that passed only on a retry: each is a defect of the test. */

import type { Reporter, TestModule } from "vitest/node";

export class TellRetries implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const retried = modules.flatMap((module) =>
      [...module.children.allTests("passed")]
        .filter((test) => (test.diagnostic()?.retryCount ?? 0) > 0)
        .map((test) => `  ${module.relativeModuleId} > ${test.fullName}`),
    );
    if (retried.length > 0)
      process.stdout.write(`\nGreen only when run once more:\n${retried.join("\n")}\n\n`);
  }
}
