import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A proxy to a server that can drop everything, as a broken network does. */
export interface Valve {
  readonly port: number;
  /** Drops everything in both directions, and closes nothing. */
  silence(): void;
  /** Ends the silent connections; new ones are forwarded. */
  open(): void;
  close(): Promise<void>;
}

export async function valveTo(port: number): Promise<Valve> {
  const sockets = new Set<Socket>();
  let isSilent = false;
  const server = createServer((socket) => {
    const onward = connect({ port, host: "127.0.0.1" });
    const pairs = [
      [socket, onward],
      [onward, socket],
    ] as const;
    for (const [from, to] of pairs) {
      sockets.add(from);
      from.on("data", (chunk) => {
        if (!isSilent) to.write(chunk);
      });
      from.on("error", () => undefined);
      from.on("close", () => {
        sockets.delete(from);
        if (!isSilent) to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    silence() {
      isSilent = true;
    },
    open() {
      cut();
      isSilent = false;
    },
    async close() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
