/** The Git service: `node src/git/main.ts [CONFIGURATION]`. */
import { loadServiceConfig, readRouteDocument, runServer } from "svc-access/runtime";
import { bindRepositoryService } from "../../gen/git/v1/repository_service_server.ts";
import { Store } from "../store.ts";
import { repositoryHandlers } from "./repositories.ts";

const { DATA = "data" } = process.env;

const configuration = loadServiceConfig(
  process.argv[2] ?? new URL("../../git.yaml", import.meta.url).pathname,
);
const store = new Store(`${DATA}/git.db`);

await runServer({
  configuration,
  bindings: [bindRepositoryService(repositoryHandlers(store))],
  routes: readRouteDocument(new URL("../../gen/routes/git.json", import.meta.url).pathname),
  onClose: () => store.close(),
});
