/** The service: `node src/main.ts [CONFIGURATION]`. */
import {
  createAuthorizationEngine,
  loadServiceConfig,
  readRouteDocument,
  runServer,
} from "svc-access/runtime";
import { bindNotesService } from "../gen/notes/v1/notes_server.ts";
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
    bindings: [bindNotesService(handlers(engine))],
    routes: readRouteDocument("gen/routes/notes.json"),
  };
});
