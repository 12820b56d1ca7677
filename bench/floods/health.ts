/** Flood 4: health calls that watch forever, or never send their request. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Finding, Flood } from "./finding.ts";
import { probing } from "./probing.ts";
import { RawHttp2 } from "./raw-http2.ts";
import { Target } from "./target.ts";

const STREAMS = 20_000;
/** The most that the server lets a connection have. */
const STREAMS_OF_CONNECTION = 1_000;
/** What is measured comes after the opening, which costs as many calls do: until none has ended for so long. */
const QUIET_MS = 3_000;
const MEASURED_MS = 10_000;

const CPU_PERCENT = 5;
const MEGABYTES = 150;
/** Of one that is larger: what V8 leaves uncollected, however much larger it is. */
const MEGABYTES_AT_MOST = 500;
const PROBE_SECONDS = 1;

/** An empty message: the health of the process. */
const EMPTY = new Uint8Array(5);

/** Watchers, each with its request. */
export const watchers: Flood = (times) => flood("/grpc.health.v1.Health/Watch", times, EMPTY);

/** Calls whose request never comes. */
export const silentCalls: Flood = (times) => flood("/grpc.health.v1.Health/Check", times);

async function flood(path: string, times: number, message?: Uint8Array): Promise<Finding[]> {
  const target = await Target.start();
  const connections: RawHttp2[] = [];
  try {
    const opening = target.cpu();
    const begin = performance.now();
    const probes = probing(target.http, "/readyz");
    for (let opened = 0; opened < STREAMS * times; opened += STREAMS_OF_CONNECTION) {
      const connection = await RawHttp2.connect(target.grpc);
      connections.push(connection);
      await connection.open(path, STREAMS_OF_CONNECTION, message);
    }
    const ended = await quiet(connections);
    const seconds = (performance.now() - begin) / 1000;
    console.log(
      `  opened in ${seconds.toFixed(1)} s, ${opening().toFixed(0)} % CPU; ${ended} of ${STREAMS * times} calls ended by the server`,
    );
    const cpu = target.cpu();
    await sleep(MEASURED_MS);
    const cpuPercent = cpu();
    const { failed, longestSeconds } = await probes();
    return [
      { what: "CPU", measured: cpuPercent, most: CPU_PERCENT, unit: "%" },
      {
        what: "memory",
        measured: target.megabytes,
        most: times === 1 ? MEGABYTES : MEGABYTES_AT_MOST,
        unit: "MiB",
      },
      { what: "failed probes", measured: failed, most: 0, unit: "" },
      { what: "longest probe", measured: longestSeconds, most: PROBE_SECONDS * times, unit: "s" },
    ];
  } finally {
    for (const connection of connections) connection.close();
    await target.stop();
  }
}

/** Waits until the server ends no more calls; how many it has. */
async function quiet(connections: readonly RawHttp2[]): Promise<number> {
  let before = -1;
  for (;;) {
    const ended = connections.reduce((sum, connection) => sum + connection.ended, 0);
    if (ended === before) return ended;
    before = ended;
    await sleep(QUIET_MS);
  }
}
