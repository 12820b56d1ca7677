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
