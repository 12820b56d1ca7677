import type { Connection } from "./connection.ts";

/** Opens a connection. */
export type OpenConnection = () => Promise<Connection>;

let opener: OpenConnection = async () => (await import("./logged-in.ts")).connectLoggedIn();

/** Chooses how the command of this process connects: `--offline` does. */
export function connectBy(open: OpenConnection): void {
  opener = open;
}

/** Opens the connection of a command. @throws CommandError if that is not possible */
export function connect(): Promise<Connection> {
  return opener();
}
