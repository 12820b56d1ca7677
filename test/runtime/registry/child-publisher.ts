/** A process that publishes two routes until it is killed. */
import { publishRoutes } from "../../../src/runtime/registry/index.ts";
import { documentOf, entryOf } from "./documents.ts";

const publisher = publishRoutes({
  etcd: { endpoints: [process.argv[2] as string] },
  environment: "test",
  documents: [documentOf(entryOf("Get"), entryOf("List"))],
  instance: "child",
  leaseTtlSeconds: 4,
});
const timer = setInterval(() => {
  if (publisher.readiness() !== undefined) return;
  clearInterval(timer);
  process.stdout.write("published\n");
}, 20);
