/** The Git service: `node src/git/main.ts [CONFIGURATION]`. */
import { loadServiceConfig, readRouteDocument, runServer } from "svc-access/runtime";
import { bindRepositoryService } from "../../gen/git/v1/repository_service_server.ts";
import { dataFile } from "../data-folder.ts";
import { Store } from "../store.ts";
import { repositoryHandlers } from "./repositories.ts";

const root = new URL("../..", import.meta.url).pathname;

await runServer(() => {
  const configuration = loadServiceConfig(process.argv[2] ?? `${root}git.yaml`);
  const store = new Store(dataFile("git.db"));
  return {
    configuration,
    bindings: [bindRepositoryService(repositoryHandlers(store))],
    routes: readRouteDocument(`${root}gen/routes/git.json`),
    onClose: () => store.close(),
  };
});
