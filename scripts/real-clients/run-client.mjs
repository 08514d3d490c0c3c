/** One client in its own process, from the folder its packages are in: `node run-client.mjs FILE ORDER`. */
const [, , file, order] = process.argv;
const { client } = await import(`./clients/${file}`);
await client.run(JSON.parse(order));
// A client may keep a connection open for the next request; there is none.
process.exit(0);
