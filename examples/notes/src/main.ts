/** The service: `node src/main.ts [CONFIGURATION]`. */
import { join } from "node:path";
import {
  createAuthorizationEngine,
  loadServiceConfig,
  readRouteDocument,
  runServer,
} from "svc-access/runtime";
import { handlers } from "./handlers.ts";

/** The folder of the service, wherever it is started from. */
const folder = join(import.meta.dirname, "..");

await runServer(async () => {
  const configuration = loadServiceConfig(process.argv[2] ?? join(folder, "service.yaml"));
  // Before generated code is imported: if that is missing, this error says what to run.
  const routes = readRouteDocument(join(folder, "gen/routes/notes.json"));
  const { bindNotesService } = await import("../gen/notes/v1/notes_server.ts");
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
    routes,
  };
});
