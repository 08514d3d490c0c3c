/**
 * Structured output: the answer is JSON that fits a schema, or the turn says why it does not.
 *
 *   npx tsx --tsconfig examples/tsconfig.json examples/structured-output.ts
 */

import { createAgent, emulator } from "throughline";
import { z } from "zod";

const print = (text: string): void => void process.stdout.write(`${text}\n`);

const City = z.object({ name: z.string(), country: z.string(), population: z.number().int().positive() });

await using session = await createAgent({ model: emulator() }).open();
const { status, output, error } = await session.send("Describe a city.", { output: City }).result();

print(status);
if (status === "completed") print(JSON.stringify(City.parse(output)));
else print(error?.message ?? "");
