import type { GeneratedCode } from "./generated-code.ts";

/** The handlers. */
export function handlersTs(word: string, title: string, gen: GeneratedCode): string {
  return `import type { AuthorizationEngine } from "svc-access/authz";
import { requirePrincipal, ServiceError } from "svc-access/runtime";
import type { ${title}ServiceHandlers } from "${gen.fromSource}/${word}/v1/${word}_server.ts";

/** The handlers of the service. The runtime checks the access policies of the proto before each call. */
export function handlers(engine: AuthorizationEngine): ${title}ServiceHandlers {
  const items = new Map<string, { itemId: string; text: string; changedBy: string }>();
  return {
    async getVersion() {
      return { version: "1.0.0" };
    },

    async listItems(_request, context) {
      const { subjectType, subjectId } = requirePrincipal(context);
      const subject = { type: subjectType, id: subjectId };
      const { items: ids } = await engine.lookupResources(
        { resourceType: "item", permission: "read", subject },
        { signal: context.signal },
      );
      return { items: ids.map((id) => items.get(id)).filter((item) => item !== undefined) };
    },

    async setItem({ itemId, text }, context) {
      if (text === "") throw new ServiceError("INVALID_ARGUMENT", "text is required");
      const item = { itemId, text, changedBy: requirePrincipal(context).subjectId };
      items.set(itemId, item);
      return { item };
    },
  };
}
`;
}

/** The program. */
export function mainTs(name: string, word: string, title: string, gen: GeneratedCode): string {
  return `/** The service: \`node src/main.ts [CONFIGURATION]\`. */
import {
  createAuthorizationEngine,
  loadServiceConfig,
  readRouteDocument,
  runServer,
} from "svc-access/runtime";
import { bind${title}Service } from "${gen.fromSource}/${word}/v1/${word}_server.ts";
import { handlers } from "./handlers.ts";

await runServer(async () => {
  const configuration = loadServiceConfig(process.argv[2] ?? "service.yaml");
  const engine = await createAuthorizationEngine(configuration.config);
  if (configuration.config.environment === "development") {
    // Without relationships nobody may write, so make a first owner.
    const resource = { type: "item", id: "first" };
    const subject = { type: "user", id: "alice" };
    await engine.writeRelationships({
      updates: [{ operation: "TOUCH", relationship: { resource, relation: "owner", subject } }],
    });
  }
  return {
    configuration,
    engine,
    bindings: [bind${title}Service(handlers(engine))],
    routes: readRouteDocument("${gen.folder}/routes/${name}.json"),
  };
});
`;
}
