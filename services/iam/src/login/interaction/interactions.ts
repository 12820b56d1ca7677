import type { CallContext, RawHandler, RawRequest, RawResponse } from "svc-access/runtime";
import {
  AUTHORIZATION_PATH,
  DEVICE_PATH,
  INTERACTION_PATH,
  LOGOUT_PATH,
  PROVIDER_PATH,
} from "../../config/provider-paths.ts";
import type { EmbeddedProvider } from "../../provider/embedded/embedded-provider.ts";
import { oauthError } from "../../provider/embedded/request/oauth-error.ts";
import { requestError } from "../../provider/embedded/request/provider-failure.ts";
import { InteractionRequest } from "./interaction-request.ts";
import { passkeyScript } from "./passkey-script.ts";

/**
 * The handlers of all paths of the embedded provider, and of its login and consent pages. Those that store something
 * for whoever calls them are declared apart, with a rate limit.
 */
export function providerHandlers(provider: EmbeddedProvider): RawHandler[] {
  return [PROVIDER_PATH, AUTHORIZATION_PATH, DEVICE_PATH, LOGOUT_PATH, INTERACTION_PATH].map(
    (path) => ({
      path,
      handle: (request, call) =>
        respond(provider, request, call).catch((error: unknown) => {
          throw requestError(error);
        }),
      ...(path === INTERACTION_PATH ? {} : { renderError: oauthError }),
    }),
  );
}

async function respond(
  provider: EmbeddedProvider,
  request: RawRequest,
  call: CallContext,
): Promise<RawResponse | undefined> {
  const script = passkeyScript(request);
  if (script !== undefined) return script;
  const { method, path } = request;
  const isInteraction = path.startsWith(`${INTERACTION_PATH}/`) && method !== "OPTIONS";
  if (!isInteraction) return provider.handle(request, call);
  const browser = provider.browserOf(request.headers);
  const scope = { call, browser, nameCause: (error: unknown) => request.nameCause(error) };
  return provider.within(scope, () =>
    new InteractionRequest(provider, request, call, browser).respond(),
  );
}
