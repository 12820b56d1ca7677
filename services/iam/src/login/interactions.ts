import type { CallContext, RawHandler, RawRequest, RawResponse } from "svc-access/runtime";
import {
  AUTHORIZATION_PATH,
  INTERACTION_PATH,
  PROVIDER_PATH,
} from "../provider/embedded/embedded-options.ts";
import type { EmbeddedProvider } from "../provider/embedded/embedded-provider.ts";
import { requestError } from "../provider/embedded/request/unavailable.ts";
import { InteractionRequest } from "./interaction-request.ts";
import { passkeyScript } from "./passkey-script.ts";

/**
 * The handlers of all paths of the embedded provider, and of its login and consent pages. Those that begin
 * a login or take its forms are declared apart, with a rate limit.
 */
export function providerHandlers(provider: EmbeddedProvider): RawHandler[] {
  return [PROVIDER_PATH, AUTHORIZATION_PATH, INTERACTION_PATH].map((path) => ({
    path,
    handle: (request, call) =>
      respond(provider, request, call).catch((error: unknown) => {
        throw requestError(error);
      }),
  }));
}

function respond(
  provider: EmbeddedProvider,
  request: RawRequest,
  call: CallContext,
): Promise<RawResponse | undefined> {
  const script = passkeyScript(request);
  if (script !== undefined) return Promise.resolve(script);
  if (!request.path.startsWith(`${INTERACTION_PATH}/`)) return provider.handle(request, call);
  return provider.within({ call }, () => new InteractionRequest(provider, request, call).respond());
}
