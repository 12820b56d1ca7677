import type { BoundMethod } from "../../binding/bound-method.ts";
import { messageRegistry } from "../../json/json-text.ts";
import { type RawMethod, rawRoute, rawShapes } from "../raw/raw-route.ts";
import type { RouteService } from "../routing/route-service.ts";
import type { RouterEntry } from "../routing/router.ts";
import { compileRpcRoute } from "../routing/rpc-route.ts";

/** What an HTTP server routes to. */
export interface RoutedMethods {
  readonly methods: readonly BoundMethod[];
  readonly rawMethods: readonly RawMethod[];
  readonly maxElements: number;
  readonly maxBodyBytes: number;
}

/**
 * The HTTP routes of RPCs, and the declared paths of raw handlers.
 *
 * @throws StartUpError if routes do not fit their messages
 */
export function routerEntries(routed: RoutedMethods): RouterEntry<RouteService>[] {
  const { methods, rawMethods, ...limits } = routed;
  const registry = messageRegistry(methods);
  const rpcs = methods.flatMap((method) =>
    method.routes.flatMap((route): RouterEntry<RouteService>[] => {
      const { descriptor } = method;
      if (descriptor === undefined) return [];
      return [
        {
          shape: route,
          name: `${route.method} ${route.path} of ${route.rpc}`,
          value: compileRpcRoute(method, route, descriptor, registry, limits),
        },
      ];
    }),
  );
  const raw = rawMethods.flatMap((rawMethod) =>
    rawShapes(rawMethod.path).map((shape): RouterEntry<RouteService> => {
      const name = `${shape.method} ${rawMethod.path.path} of a raw handler`;
      return { shape, name, value: rawRoute(rawMethod, limits.maxBodyBytes) };
    }),
  );
  return [...rpcs, ...raw];
}
