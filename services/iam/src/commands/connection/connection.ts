import type { DescService } from "@bufbuild/protobuf";
import type { HttpRoute, ServiceClient } from "svc-access/runtime";

/** Calls of the API as somebody. */
export interface Connection extends AsyncDisposable {
  /** The organization that the calls of the directory name. */
  readonly organizationId: string;
  /** A client of a service; it is closed with the connection. */
  client<Service extends DescService>(
    service: Service,
    routes: readonly HttpRoute[],
  ): ServiceClient<Service>;
}

/** Opens a connection. */
export type OpenConnection = () => Promise<Connection>;

let opener: OpenConnection | undefined;

/** Chooses how the next command connects. */
export function connectBy(open: OpenConnection): void {
  opener = open;
}

/** Opens the connection of a command. @throws CommandError if that is not possible */
export function connect(): Promise<Connection> {
  if (opener === undefined) throw new Error("nothing says how commands connect");
  return opener();
}
