/** Runs one client in its own process, from the folder with its packages: `node run-client.mjs FILE ORDER`. */
const [, , file, order] = process.argv;
const { client } = await import(`./clients/${file}`);
await client.run(JSON.parse(order));
// A client may keep a connection open for a next request, but there is none.
process.exit(0);
