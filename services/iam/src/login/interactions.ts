import type { CallContext, RawHandler, RawRequest, RawResponse } from "svc-access/runtime";
import { INTERACTION_PATH, PROVIDER_PATH } from "../provider/embedded/embedded-options.ts";
import type { EmbeddedProvider } from "../provider/embedded/embedded-provider.ts";
import { requestError } from "../provider/embedded/request/unavailable.ts";
import { InteractionRequest } from "./interaction-request.ts";

/** The handler of all paths of the embedded provider, and of its login and consent pages. */
export function providerHandler(provider: EmbeddedProvider): RawHandler {
  return {
    path: PROVIDER_PATH,
    handle: (request, call) =>
      respond(provider, request, call).catch((error: unknown) => {
        throw requestError(error);
      }),
  };
}

function respond(
  provider: EmbeddedProvider,
  request: RawRequest,
  call: CallContext,
): Promise<RawResponse | undefined> {
  if (!request.path.startsWith(`${INTERACTION_PATH}/`)) return provider.handle(request, call);
  return provider.within({ call }, () => new InteractionRequest(provider, request, call).respond());
}
