import { expect, test } from "vitest";

import { publicRequestHeaders, publicResponseHeaders, publicUrl } from "./public-headers.ts";

test("keeps only the name of a header that is not on the list", () => {
  expect(
    publicRequestHeaders({
      Authorization: "Bearer sk-1",
      "x-api-key": "sk-2",
      "X-Company-Thing": "sk-3",
      "Content-Type": "application/json",
      "anthropic-version": "2023-06-01",
    }),
  ).toEqual({
    authorization: "[redacted]",
    "x-api-key": "[redacted]",
    "x-company-thing": "[redacted]",
    "content-type": "application/json",
    "anthropic-version": "2023-06-01",
  });
});

test("keeps the headers that a playback needs, but not cookies and accounts", () => {
  expect(
    publicResponseHeaders({
      "content-type": "text/event-stream",
      "x-request-id": "req_1",
      "retry-after": "2",
      "x-ratelimit-remaining-tokens": "12",
      "set-cookie": "session=1",
      "openai-organization": "org-1",
    }),
  ).toEqual({
    "content-type": "text/event-stream",
    "x-request-id": "req_1",
    "retry-after": "2",
    "x-ratelimit-remaining-tokens": "12",
    "set-cookie": "[redacted]",
    "openai-organization": "[redacted]",
  });
});

test("a URL keeps the names of its parameters, and the values of version parameters", () => {
  expect(publicUrl("https://me:pw@host/v1/responses?api-version=2026-01&code=sk-4#part").href).toBe(
    "https://host/v1/responses?api-version=2026-01&code=redacted",
  );
});
