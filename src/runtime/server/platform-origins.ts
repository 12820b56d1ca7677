import type { ServerOptions } from "./server-options.ts";

/**
 * The options of a server with the origins of the platform: `frontends.*.allowed_origins` stands in
 * the document of routes, so that a page that the edge lets call is not refused by the service.
 * Those of the service's own configuration are for pages that call it without the edge.
 */
export function withPlatformOrigins(options: ServerOptions): ServerOptions {
  const { configuration, routes } = options;
  const { config } = configuration;
  const { http } = config.server;
  const platform = routes?.allowedOrigins ?? [];
  if (http === undefined || platform.length === 0) return options;
  const { cors } = http;
  const origins = new Set([...cors.allowed_origins, ...platform]);
  const merged = { ...cors, allowed_origins: [...origins] };
  const server = { ...config.server, http: { ...http, cors: merged } };
  return { ...options, configuration: { ...configuration, config: { ...config, server } } };
}
