/** The program of this name in the image of SpiceDB, as far as a health check calls it: `-addr=HOST:PORT`. */
import { Client, credentials } from "@grpc/grpc-js";

const SERVING = Buffer.from([0x08, 0x01]);
const [argument = "", ...others] = process.argv.slice(2);
const address = /^-addr=(.+)$/.exec(argument)?.[1];
if (address === undefined || others.length > 0) fail(`unknown arguments: ${process.argv.slice(2)}`);

const client = new Client(address, credentials.createInsecure());
client.makeUnaryRequest(
  "/grpc.health.v1.Health/Check",
  (bytes: Buffer) => bytes,
  (bytes: Buffer) => bytes,
  Buffer.alloc(0),
  { deadline: Date.now() + 4_000 },
  (error, status) => {
    if (error !== null) fail(error.message);
    if (status?.equals(SERVING) !== true) fail("it does not serve");
    client.close();
  },
);

function fail(why: string): never {
  process.stderr.write(`${why}\n`);
  process.exit(1);
}
