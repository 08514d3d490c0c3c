import { expect, test } from "vitest";

import { outcomeOf } from "./call-result.ts";

const text = (value: string, annotations?: object): object => ({
  type: "text",
  text: value,
  ...(annotations && { annotations }),
});

test("texts are joined by an empty line, and an error of the tool keeps its text as given", () => {
  expect(outcomeOf({ content: [text("one"), text("two")] }, undefined)).toMatchObject({
    status: "ok",
    text: "one\n\ntwo",
  });
  expect(outcomeOf({ content: [text("no such file")], isError: true }, undefined)).toMatchObject({
    status: "error",
    text: "no such file",
  });
});

test("an image goes along, and the text names it", () => {
  const data = Buffer.alloc(3000).toString("base64");
  expect(outcomeOf({ content: [{ type: "image", mimeType: "image/png", data }] }, undefined)).toMatchObject({
    text: "[image image/png, 3 KB]",
    images: [{ mediaType: "image/png", data }],
  });
});

test("resources, links, audio and unknown parts become lines", () => {
  const content = [
    { type: "resource", resource: { uri: "file:///a.txt", text: "hello" } },
    { type: "resource_link", uri: "file:///b.txt", name: "b", mimeType: "text/plain" },
    { type: "audio", mimeType: "audio/wav", data: "AAAA" },
    { type: "hologram" },
    "text",
  ];
  expect(outcomeOf({ content }, undefined).text).toBe(
    [
      "[resource file:///a.txt]\nhello",
      "[resource file:///b.txt: b, text/plain]",
      "[audio audio/wav, 3 bytes: not shown]",
      '[a part of the type "hologram"]',
      "[a part that cannot be read]",
    ].join("\n\n"),
  );
});

test("structured content counts only if there is no text", () => {
  expect(outcomeOf({ content: [], structuredContent: { a: 1 } }, undefined).text).toBe('{"a":1}');
  expect(outcomeOf({ content: [text("t")], structuredContent: { a: 1 } }, undefined).text).toBe("t");
});

test("what only the person should see is not for the model", () => {
  const content = [
    text("for both"),
    text("for you", { audience: ["user"] }),
    text("all", { audience: ["user", "assistant"] }),
  ];
  expect(outcomeOf({ content }, undefined)).toMatchObject({ text: "for both\n\nall", forPerson: "for you" });
});

test("a result that misses the declared schema arrives all the same, with a remark", () => {
  const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
  const missing = outcomeOf({ content: [text("done")] }, schema);
  expect(missing.status).toBe("ok");
  expect(missing.text).toContain("done\n\n[The tool ran, but its result does not fit");
  expect(outcomeOf({ content: [text("done")], structuredContent: { n: "x" } }, schema).text).toContain(
    "does not fit",
  );
  expect(outcomeOf({ content: [text("done")], structuredContent: { n: 1 } }, schema).text).toBe("done");
  expect(outcomeOf({ content: [text("done")], structuredContent: {} }, { $ref: "#/none" }).text).toContain(
    "cannot be used",
  );
});
