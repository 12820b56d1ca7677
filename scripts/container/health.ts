/**
 * The health check of a container, which has no shell and no curl: `/healthz` of the service's metrics
 * server. Exits with 0 if the process is well, and with 1 if it is not.
 */
const url = process.env["HEALTH_URL"] ?? "http://127.0.0.1:19180/healthz";

try {
  const { status } = await fetch(url, { signal: AbortSignal.timeout(4_000), redirect: "error" });
  if (status !== 200) fail(`${status}`);
} catch (error) {
  fail(error instanceof Error ? error.message : String(error));
}

function fail(why: string): never {
  process.stderr.write(`${url}: ${why}\n`);
  process.exit(1);
}
