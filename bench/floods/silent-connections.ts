/** Flood 5: connections that ask for nothing, to the port of metrics and to that of HTTP. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Finding, Flood } from "./finding.ts";
import { probing } from "./probing.ts";
import { Target } from "./target.ts";

const METRICS_CONNECTIONS = 70;
const HTTP_CONNECTIONS = 1_000;
/** Longer than the probes failed for. */
const MEASURED_MS = 25_000;
const PROBE_SECONDS = 1;
const MEGABYTES = 150;
/** Of one that is larger: bounded, however much larger it is. */
const MEGABYTES_AT_MOST = 500;

/** To the port of metrics, whose own health is probed. */
export const metricsPort: Flood = (times) =>
  flood(times, METRICS_CONNECTIONS, "/healthz", ({ metrics }) => metrics);

/** To the port of HTTP. */
export const httpPort: Flood = (times) =>
  flood(times, HTTP_CONNECTIONS, "/readyz", ({ http }) => http);

async function flood(
  times: number,
  connections: number,
  path: string,
  portOf: (target: Target) => number,
): Promise<Finding[]> {
  const count = connections * times;
  const target = await Target.start();
  const sockets = new Set<Socket>();
  try {
    const port = portOf(target);
    const open = async () => {
      const socket = connect(port, "127.0.0.1");
      sockets.add(socket);
      socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
      await once(socket, "connect").catch(() => undefined);
    };
    for (let index = 0; index < count; index++) await open();
    const probes = probing(port, path);
    const cpu = target.cpu();
    // Those that the server closes come again.
    const end = performance.now() + MEASURED_MS;
    while (performance.now() < end) {
      for (let missing = count - sockets.size; missing > 0; missing--) await open();
      await sleep(100);
    }
    const cpuPercent = cpu();
    const { failed, longestSeconds } = await probes();
    return [
      { what: "failed probes", measured: failed, most: 0, unit: "" },
      { what: "longest probe", measured: longestSeconds, most: PROBE_SECONDS, unit: "s" },
      {
        what: "memory",
        measured: target.megabytes,
        most: times === 1 ? MEGABYTES : MEGABYTES_AT_MOST,
        unit: "MiB",
      },
      { what: "CPU", measured: cpuPercent, most: 100, unit: "%" },
    ];
  } finally {
    for (const socket of sockets) socket.destroy();
    await target.stop();
  }
}
