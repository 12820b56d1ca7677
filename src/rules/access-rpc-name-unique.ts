import { atRpc, type Rule } from "./rule.ts";

export const accessRpcNameUnique: Rule = {
  id: "ACCESS_RPC_NAME_UNIQUE",
  category: "ACCESS",
  purpose: "Checks that no two RPCs of a protobuf service have the same handler name.",
  *check({ api, placeOf }) {
    for (const { rpcs } of api.services.flatMap(({ services }) => services)) {
      const handlers = new Map<string, (typeof rpcs)[number]>();
      for (const rpc of rpcs) {
        const handler = handlerName(rpc.name);
        const other = handlers.get(handler);
        if (other === undefined) handlers.set(handler, rpc);
        else {
          yield atRpc(
            rpc,
            `${rpc.name} has the handler name of ${other.name} (${placeOf(other.position)}), ${handler}; rename one of them`,
          );
        }
      }
    }
  },
};

/** A handler has the name of its RPC, with the first letter in lower case. */
function handlerName(rpc: string): string {
  return `${rpc.charAt(0).toLowerCase()}${rpc.slice(1)}`;
}
