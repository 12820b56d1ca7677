import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { HttpRoute } from "../../support/curl.ts";
import { HUB } from "./hub-process.ts";

/** An RPC, as `gen/routes/hub.json` has it. */
export interface RouteEntry {
  readonly rpc: string;
  readonly stream: string;
  readonly exposure: string;
  readonly http?: readonly HttpRoute[];
  readonly gateway?: { readonly publish: boolean };
}

/** All RPCs of the hub. */
export const ROUTES: readonly RouteEntry[] = JSON.parse(
  readFileSync(join(HUB, "gen/routes/hub.json"), "utf8"),
).routes.map(({ entry }: { entry: RouteEntry }) => entry);

/** The RPC of a full name. */
export function routeOf(rpc: string): RouteEntry {
  const route = ROUTES.find((one) => one.rpc === rpc);
  if (route === undefined) throw new Error(`${rpc} is not an RPC of the hub`);
  return route;
}
