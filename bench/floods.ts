/**
 * Floods against a service of its own process: `node bench/floods.ts [name…] [--times 1,10]`, all of
 * them if none is named. Each is made as large as it was found, and ten times as large, and
 * printed with what it may cost at most; the exit code says whether all of that is kept.
 */
import { parseArgs } from "node:util";
import { describeFinding, type Flood, isKept } from "./floods/finding.ts";
import { silentCalls, watchers } from "./floods/health.ts";
import { largeOverGrpc, largeOverHttp1 } from "./floods/large-responses.ts";
import { reflection } from "./floods/reflection.ts";
import { httpPort, metricsPort } from "./floods/silent-connections.ts";
import { manyLarge, unknownFields } from "./floods/unpacking.ts";

const FLOODS: Readonly<Record<string, Flood>> = {
  "1-unknown-fields": unknownFields,
  "2-many-large": manyLarge,
  "4-watchers": watchers,
  "4-silent-calls": silentCalls,
  "4-reflection": reflection,
  "5-metrics": metricsPort,
  "5-http": httpPort,
  "12-large-grpc": largeOverGrpc,
  "12-large-http1": largeOverHttp1,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { times: { type: "string", default: "1,10" } },
});
for (const name of positionals.length === 0 ? Object.keys(FLOODS) : positionals) {
  const flood = FLOODS[name];
  if (flood === undefined) {
    throw new Error(`there is no flood ${name}: name some of ${Object.keys(FLOODS).join(", ")}`);
  }
  for (const times of values.times.split(",").map(Number)) {
    console.log(`${name}, ${times} times:`);
    for (const finding of await flood(times)) {
      console.log(`  ${describeFinding(finding)}`);
      if (!isKept(finding.measured, finding.most)) process.exitCode = 1;
    }
  }
}
