/**
 * Switches models in the middle of a session and shows which thoughts travel, which stay, and why. The number is only in
 * the encrypted reasoning, so the second model cannot know it. The first model gets its reasoning back.
 *
 *   npx tsx --tsconfig examples/tsconfig.json examples/switch-models.ts
 */

import { createAgent, openai } from "throughline";
import { startEmulator } from "throughline/emulator";

const print = (text: string): void => void process.stdout.write(`${text}\n`);

// One server with two models. As with a real provider, one model cannot read the other's ciphertext.
const emulator = await startEmulator();
const first = openai("emu-reasoner", { baseUrl: emulator.baseUrl, apiKey: "example" });
const second = openai("emu-reasoner-mini", { baseUrl: emulator.baseUrl, apiKey: "example" });

const session = await createAgent({ model: first }).open();
print(await session.send("Think of a number.").text());

const { kept, dropped, reasons } = await session.previewSwitch(second);
print(`\nSwitching: ${kept} thoughts travel, ${dropped} stay (${Object.keys(reasons).join(", ")})`);
await session.setModel(second);
print(await session.send("Which number did you think of?").text());
for (const { seq, type, action, why } of await session.explain({ request: 2 })) {
  print(`  ${seq} ${type}: ${action} (${why})`);
}

await session.setModel(first);
print(`\nAnd back:\n${await session.send("Which number did you think of?").text()}`);

const { accepted, refused, recall } = emulator.report().totals;
print(`\n${accepted} requests accepted, ${refused} refused, recall ${recall * 100} %`);
await session.close();
await emulator.close();
