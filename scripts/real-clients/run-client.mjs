/**
 * Runs one client in its own process, from the folder with its packages: `node run-client.mjs FILE ORDER`. If the order is
 * a list, each is for a scenario by name; the last line says what became of them: null, or why it failed.
 */
const SCENARIO_MS = 180_000;
const [, , file, order] = process.argv;
const { client } = await import(`./clients/${file}`);
const given = JSON.parse(order);
if (Array.isArray(given)) {
  const said = {};
  for (const one of given) said[one.name] = await tried(one);
  process.stdout.write(`\n${JSON.stringify(said)}\n`);
} else {
  await client.run(given);
}
// A client may keep a connection open for a next request, but there is none.
process.exit(0);

async function tried(one) {
  const { work, url, baseUrl } = one;
  Object.assign(process.env, { HOME: work, OPENAI_BASE_URL: baseUrl, ANTHROPIC_BASE_URL: url });
  const { promise: late, reject } = Promise.withResolvers();
  const timer = setTimeout(() => reject(new Error("took too long")), SCENARIO_MS);
  const run = one.name === "conversation" ? client.run : client.scenarios[one.name];
  try {
    await Promise.race([run(one), late]);
    return null;
  } catch (error) {
    return `${error?.name ?? "Error"}: ${error?.message ?? error}`.slice(0, 600);
  } finally {
    clearTimeout(timer);
  }
}
