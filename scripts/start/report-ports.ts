/**
 * Preloaded by the processes of the platform: each tells the one that started it on which ports it
 * listens, and on which it cannot. Only this is proof of who holds a port: an answer on it may come
 * from anyone, and the level of the log may hide its lines.
 */
import { subscribe } from "node:diagnostics_channel";
import type { Server } from "node:net";
import type { PortReport } from "./port-report.ts";

const tell = (report: PortReport) => void process.send?.(report);

subscribe("tracing:net.server.listen:asyncEnd", (message) => {
  const address = (message as { readonly server: Server }).server.address();
  if (address !== null && typeof address === "object") tell({ port: address.port });
});
subscribe("tracing:net.server.listen:error", (message) => {
  const { error } = message as { readonly error: NodeJS.ErrnoException & { port?: number } };
  if (error.port !== undefined) tell({ port: error.port, code: error.code ?? error.message });
});
