/** What holds for the rules of every dialect: each has a number, cases that break it, and similar cases that do not. */

import { describe, expect, test } from "vitest";

import type { Violation } from "../../src/runtime/rules/index.ts";

export interface RuleCases<Request> {
  readonly breaks: Readonly<Record<string, Request>>;
  readonly keeps: Readonly<Record<string, Request>>;
}

interface KnownRule {
  readonly id: string;
  readonly title: string;
  readonly evidence: string;
  readonly todo: string;
}

/** Per rule: requests that break it, and similar requests that break none. */
export function rulesContract<Request>(
  rules: readonly KnownRule[],
  cases: Readonly<Record<string, RuleCases<Request>>>,
  check: (request: Request) => readonly Violation[],
): void {
  test("every rule has cases here, and its own number and title", () => {
    expect(rules.map(({ id }) => id).toSorted()).toEqual(Object.keys(cases));
    expect(new Set(rules.map(({ title }) => title)).size).toBe(rules.length);
    for (const { evidence, todo } of rules) {
      expect(evidence).toMatch(/^[A-Z]\d\d/);
      expect(todo).not.toBe("");
    }
  });

  describe.each(Object.entries(cases))("%s", (id, { breaks, keeps }) => {
    test.each(Object.entries(breaks))("is broken by %s", (_, request) => {
      const found = check(request);
      expect(found.map(({ rule }) => rule)).toContain(id);
      for (const { message } of found) expect(message).not.toBe("");
    });

    test.each(Object.entries(keeps))("is kept by %s, as are all other rules", (_, request) => {
      expect(check(request)).toEqual([]);
    });
  });
}
