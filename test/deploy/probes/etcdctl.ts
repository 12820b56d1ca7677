/** The program of this name in the image of etcd, as far as a health check calls it: `--endpoints=URL endpoint health`. */
const [argument = "", ...command] = process.argv.slice(2);
const endpoint = /^--endpoints=(.+)$/.exec(argument)?.[1];
if (endpoint === undefined || command.join(" ") !== "endpoint health") {
  fail(`unknown arguments: ${process.argv.slice(2)}`);
}
try {
  const response = await fetch(`${endpoint}/health`, { signal: AbortSignal.timeout(4_000) });
  const { health } = (await response.json()) as { readonly health: string };
  if (health !== "true") fail("it is not healthy");
} catch (error) {
  fail(String(error));
}

function fail(why: string): never {
  process.stderr.write(`${why}\n`);
  process.exit(1);
}
