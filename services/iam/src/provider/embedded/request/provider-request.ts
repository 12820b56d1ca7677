import type { RawRequest } from "svc-access/runtime";

/** What the provider needs of a request. */
export interface ProviderRequest
  extends Pick<RawRequest, "incoming" | "response" | "method" | "path" | "body"> {
  readonly headers: Pick<RawRequest["headers"], "all">;
}
