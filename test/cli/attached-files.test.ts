/** Input that is not plain text on the command line: piped bytes, `-i FILE`, and `@file` in a prompt. */

import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import type { InputPart } from "../../src/base/events/index.ts";
import {
  asOrdinaryUser,
  emulatorOf,
  eventsOf,
  expectAllAccepted,
  expectProblem,
  logsOf,
  newPlace,
  onlyLog,
  type Place,
  run,
  treeOf,
} from "./harness.ts";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  "base64",
);
const JPEG = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 16, 0x4a, 0x46, 0x49, 0x46, 0, 1]);
const GIF = Buffer.from("GIF89a\u0001\0\u0001\0", "latin1");
const WEBP = Buffer.from("RIFF\u0010\0\0\0WEBPVP8 ", "latin1");
const PDF = Buffer.from("%PDF-1.7\n%\u00e2\u00e3\u00cf\u00d3\n1 0 obj\n", "latin1");

async function sent(place: Place): Promise<readonly InputPart[]> {
  const { events } = await onlyLog(place);
  return eventsOf(events, "user_message").flatMap(({ content }) => content);
}

function bytes(place: Place, name: string, content: Buffer): string {
  const path = join(place.work, name);
  writeFileSync(path, content);
  return path;
}

const image = (mediaType: string, data: Buffer): InputPart => ({
  type: "image",
  mediaType,
  data: data.toString("base64"),
});
const text = (of: string): InputPart => ({ type: "text", text: of });

test.concurrent.for([
  ["a PNG", PNG, image("image/png", PNG)],
  ["a JPEG", JPEG, image("image/jpeg", JPEG)],
  ["a GIF", GIF, image("image/gif", GIF)],
  ["a WebP", WEBP, image("image/webp", WEBP)],
  [
    "a PDF",
    PDF,
    { type: "file", name: "stdin.pdf", mediaType: "application/pdf", data: PDF.toString("base64") },
  ],
] as const)("%s on standard input is attached, byte for byte", async ([, input, part]) => {
  const place = newPlace();
  const { emulator, env } = await emulatorOf();
  expect(await run(place, ["-p", "what is this?"], { env, input })).toMatchObject({ code: 0 });
  expect(await sent(place)).toEqual([text("what is this?"), part]);
  expectAllAccepted(emulator);
});

test("an image alone on standard input is the message", async () => {
  const place = newPlace();
  const { emulator, env } = await emulatorOf();
  expect(await run(place, ["-p"], { env, input: PNG })).toMatchObject({ code: 0 });
  expect(await sent(place)).toEqual([image("image/png", PNG)]);
  expectAllAccepted(emulator);
});

test.concurrent.for([
  ["Latin-1 text", Buffer.from("na\u00efve caf\u00e9\n", "latin1"), /iconv/],
  ["a program", Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0, 0xff, 0xfe]), /iconv/],
  ["a cut UTF-8 sequence", Buffer.from([0x61, 0xe2, 0x82]), /UTF-8/],
  ["UTF-16 that does not decode", Buffer.from([0xff, 0xfe, 0x00, 0xd8, 0x61, 0x00]), /UTF-16/],
  ["UTF-16 without a byte order mark", Buffer.from("hello", "utf16le"), /iconv/],
  ["bytes with a NUL that would decode", Buffer.from("abc\0\u0001def"), /UTF-8/],
  ["a TIFF", Buffer.from("II*\0\u0008\0\0\0\u00ff", "latin1"), /PNG/],
] as const)("%s on standard input is refused before anything is sent", async ([, input, says]) => {
  const place = newPlace();
  const { emulator, env } = await emulatorOf();
  const ran = await run(place, ["-p", "read this"], { env, input });
  expectProblem(ran, 2, "input_not_text");
  expect(ran.err).toMatch(says);
  expect(treeOf(place.home)).toEqual([]);
  expect(emulator.report().requests).toEqual([]);
});

test.concurrent.for([
  ["a UTF-8 byte order mark", Buffer.from("\uFEFFhello\n", "utf8")],
  ["UTF-16 with its byte order mark", Buffer.from("\uFEFFhello\r\n", "utf16le")],
] as const)("%s is dropped and the text is sent", async ([, input]) => {
  const place = newPlace();
  const { env } = await emulatorOf();
  expect(await run(place, ["-p"], { env, input })).toMatchObject({ code: 0 });
  expect(await sent(place)).toEqual([text("hello")]);
});

test("-i attaches images, PDFs and text files, in order and by their content", async () => {
  const place = newPlace();
  const { emulator, env } = await emulatorOf();
  bytes(place, "picture.txt", PNG); // the name does not decide
  bytes(place, "paper.pdf", PDF);
  place.write("notes.md", "# One\n\ntwo\n");
  const args = ["-p", "-i", "picture.txt", "--input", "paper.pdf", "-i", "notes.md", "what is it?"];
  expect(await run(place, args, { env })).toMatchObject({ code: 0 });
  expect(await sent(place)).toEqual([
    text("what is it?"),
    image("image/png", PNG),
    { type: "file", name: "paper.pdf", mediaType: "application/pdf", data: PDF.toString("base64") },
    text('<file name="notes.md">\n# One\n\ntwo\n</file>'),
  ]);
  const { events } = await onlyLog(place);
  expect(eventsOf(events, "title").map(({ title }) => title)).toEqual(["what is it?"]);
  expectAllAccepted(emulator);
});

test("-i needs no prompt outside a chat, and -C says where its path starts", async () => {
  const place = newPlace();
  const { env } = await emulatorOf();
  mkdirSync(join(place.work, "inner"));
  bytes(place, "inner/a.png", PNG);
  expect(await run(place, ["run", "-C", "inner", "-i", "a.png"], { env })).toMatchObject({ code: 0 });
  expect(await sent(place)).toEqual([image("image/png", PNG)]);
});

test("a large image is kept once, next to the log", async () => {
  const place = newPlace();
  const { env } = await emulatorOf();
  const large = Buffer.concat([PNG, Buffer.alloc(100_000, 7)]);
  bytes(place, "large.png", large);
  expect(await run(place, ["-p", "-i", "large.png", "see"], { env })).toMatchObject({ code: 0 });
  const [, part] = await sent(place);
  const { id } = await onlyLog(place);
  const blob = part !== undefined && "blob" in part ? part.blob : "";
  expect(readFileSync(join(place.sessions, `${id}.blobs`, blob))).toEqual(large);
});

test.concurrent.for([
  ["is missing", "nowhere.png", "file_unreadable", /no such file/],
  ["is a folder", "folder", "file_unreadable", /it is a folder/],
  ["is a named pipe", "pipe", "file_unreadable", /not a regular file/],
  ["is a device", "/dev/zero", "file_unreadable", /not a regular file/],
  ["may not be read", "secret.txt", "file_unreadable", /permission denied/],
  ["is binary", "data.bin", "file_not_text", /neither text nor/],
  ["is empty", "empty", "input_empty", /is empty/],
  ["is too large", "huge.txt", "file_too_large", /limit/],
] as const)("a file of -i that %s is refused before anything is sent", async ([, name, code, says]) => {
  const place = newPlace();
  const { emulator, env } = await emulatorOf();
  mkdirSync(join(place.work, "folder"));
  expect(spawnSync("mkfifo", [join(place.work, "pipe")]).status).toBe(0);
  spawnSync("chmod", ["0", place.write("secret.txt", "hush")]);
  bytes(place, "data.bin", Buffer.from([1, 2, 0xff, 0xfe, 0]));
  place.write("empty", "");
  bytes(place, "huge.txt", Buffer.alloc(20 * 1024 * 1024 + 1, "a"));
  const who = name === "secret.txt" ? asOrdinaryUser(place) : {};
  if (name === "secret.txt" && process.getuid?.() === 0) spawnSync("chown", ["0", join(place.work, name)]);
  const ran = await run(place, ["-p", "-i", name, "look"], { env, ...who });
  expectProblem(ran, 2, code);
  expect(ran.err).toContain(name);
  expect(ran.err).toMatch(says);
  expect(emulator.report().requests).toEqual([]);
  expect(await logsOf(place)).toEqual(new Map());
});

test("a PDF for an endpoint that takes none is refused instead of dropped", async () => {
  const place = newPlace();
  const { emulator, env } = await emulatorOf();
  bytes(place, "paper.pdf", PDF);
  mkdirSync(place.home);
  const mine = { dialect: "openai-chat", baseUrl: emulator.baseUrl };
  writeFileSync(join(place.home, "config.json"), JSON.stringify({ providers: { mine } }));
  const ran = await run(place, ["-p", "-m", "mine/any", "-i", "paper.pdf", "look"], { env });
  expectProblem(ran, 2, "input_unsupported");
  expect(emulator.report().requests).toEqual([]);
});

test("@file puts a text file into the message and attaches an image; other words with @ stay text", async () => {
  const place = newPlace();
  const { emulator, env } = await emulatorOf();
  mkdirSync(join(place.work, "src"));
  place.write("src/a.ts", "export const a = 1;\n");
  bytes(place, "pic.png", PNG);
  const prompt =
    "compare @src/a.ts, (@pic.png) and @nothing with @src, a@src/a.ts mail@example.com @src/a.ts.";
  expect(await run(place, ["-p", prompt], { env })).toMatchObject({ code: 0 });
  expect(await sent(place)).toEqual([
    text(prompt),
    text('<file name="src/a.ts">\nexport const a = 1;\n</file>'),
    image("image/png", PNG),
  ]);
  expectAllAccepted(emulator);
});

test("@file names a file outside the working directory only by its path, and follows no link out of it", async () => {
  const place = newPlace();
  const { env } = await emulatorOf();
  const outside = join(place.work, "..", "outside.txt");
  writeFileSync(outside, "outside");
  symlinkSync(outside, join(place.work, "link.txt"));
  const ran = await run(place, ["-p", "see @../outside.txt and @link.txt"], { env });
  expect(ran).toMatchObject({ code: 0 });
  expect(ran.err).toMatch(/@link\.txt is not attached: it is a link to a file outside this directory/);
  expect(await sent(place)).toEqual([
    text("see @../outside.txt and @link.txt"),
    text('<file name="../outside.txt">\noutside\n</file>'),
  ]);
});

test("an @file that cannot be attached stays text, and the command says so", async () => {
  const place = newPlace();
  const { env } = await emulatorOf();
  bytes(place, "data.bin", Buffer.from([1, 2, 0xff, 0xfe, 0]));
  expect(spawnSync("mkfifo", [join(place.work, "pipe")]).status).toBe(0);
  const ran = await run(place, ["-p", "see @data.bin @pipe"], { env });
  expect(ran).toMatchObject({ code: 0 });
  expect(ran.err).toMatch(/@data\.bin is not attached: /);
  expect(await sent(place)).toEqual([text("see @data.bin @pipe")]);
});

test("piped text is sent as it is: an @ in it attaches nothing", async () => {
  const place = newPlace();
  const { env } = await emulatorOf();
  place.write("a.txt", "secret");
  expect(await run(place, ["-p"], { env, input: "see @a.txt" })).toMatchObject({ code: 0 });
  expect(await sent(place)).toEqual([text("see @a.txt")]);
});
