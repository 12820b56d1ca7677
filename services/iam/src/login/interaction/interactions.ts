import type { CallContext, RawHandler, RawRequest, RawResponse } from "svc-access/runtime";
import {
  AUTHORIZATION_PATH,
  DEVICE_PATH,
  INTERACTION_PATH,
  LOGOUT_PATH,
  METADATA_PATH,
  PROVIDER_PATH,
} from "../../config/provider-paths.ts";
import type { EmbeddedProvider } from "../../provider/embedded/embedded-provider.ts";
import { METADATA_ENDPOINT } from "../../provider/embedded/request/endpoints.ts";
import { oauthError } from "../../provider/embedded/request/oauth-error.ts";
import { requestError } from "../../provider/embedded/request/provider-failure.ts";
import { InteractionRequest } from "./interaction-request.ts";
import { passkeyScript } from "./passkey-script.ts";

/**
 * The handlers of all paths of the embedded provider, and of its login and consent pages. Those that store something
 * for whoever calls them are declared apart, with a rate limit.
 */
export function providerHandlers(provider: EmbeddedProvider): RawHandler[] {
  const paths = [PROVIDER_PATH, AUTHORIZATION_PATH, DEVICE_PATH, LOGOUT_PATH, INTERACTION_PATH];
  return [...paths.map((path) => handlerAt(path, provider)), metadataHandler(provider)];
}

function handlerAt(path: string, provider: EmbeddedProvider): RawHandler {
  return {
    path,
    handle: (request, call) =>
      respond(provider, request, call).catch((error: unknown) => {
        throw requestError(error);
      }),
    ...(path === INTERACTION_PATH ? {} : { renderError: oauthError }),
  };
}

/** The metadata at its place for clients of OAuth, as below the issuer. */
function metadataHandler(provider: EmbeddedProvider): RawHandler {
  const path = `${PROVIDER_PATH}${METADATA_ENDPOINT}`;
  return {
    path: METADATA_PATH,
    handle: ({ incoming, response, method, headers }, call) => {
      const request = { incoming, response, method, headers, path };
      return provider.handle({ ...request, body: async () => new Uint8Array() }, call);
    },
    renderError: (error, request) => oauthError(error, { ...request, path }),
  };
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
