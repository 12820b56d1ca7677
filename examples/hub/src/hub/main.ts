/** The hub: `node src/hub/main.ts [CONFIGURATION]`. */
import {
  createAuthorizationEngine,
  createGrpcClient,
  loadServiceConfig,
  readRouteDocument,
  runServer,
  StartUpError,
} from "svc-access/runtime";
import { RepositoryService } from "../../gen/git/v1/repository_service_pb.ts";
import { bindAuthnService } from "../../gen/hub/authn/v1/authn_server.ts";
import { bindAuthzService } from "../../gen/hub/authz/v1/authz_server.ts";
import {
  bindProjectService,
  bindRunnerService,
} from "../../gen/hub/projects/v1/project_service_server.ts";
import {
  bindSkillPackageService,
  bindSkillService,
} from "../../gen/hub/skills/v1/skill_service_server.ts";
import { dataFile } from "../data-folder.ts";
import { Store } from "../store.ts";
import { authnHandlers } from "./authn.ts";
import { authzHandlers } from "./authz.ts";
import { Catalogs } from "./catalogs.ts";
import { Packages, packageHandlers } from "./packages.ts";
import { projectHandlers } from "./projects.ts";
import { gitRepositories } from "./repositories.ts";
import { Runs } from "./runs.ts";
import { seed, seedWhenReady } from "./seed.ts";
import { Skills } from "./skill-store.ts";
import { skillHandlers } from "./skills.ts";

const root = new URL("../..", import.meta.url).pathname;

await runServer(async () => {
  const configuration = loadServiceConfig(process.argv[2] ?? `${root}${configurationFile()}`);
  const { GIT_ADDRESS: target = "127.0.0.1:19002", HUB_TOKEN: internalToken = "" } = process.env;
  if (internalToken === "") {
    throw new StartUpError([
      "HUB_TOKEN is missing: the token that the Git service knows the hub by",
    ]);
  }
  const store = new Store(dataFile("hub.db"));
  const engine = await createAuthorizationEngine(configuration.config);
  const end = new AbortController();
  if (configuration.config.environment === "development") {
    if (engine.kind === "iam") void seedWhenReady(engine, end.signal);
    else await seed(engine);
  }
  const skills = new Skills(store);
  const packages = new Packages(store);
  const catalogs = new Catalogs(store);
  const runs = new Runs(store, { skills, packages });
  const git = createGrpcClient(RepositoryService, { target, internalToken });
  const repositories = gitRepositories(git);
  return {
    configuration,
    engine,
    bindings: [
      bindAuthnService(authnHandlers(store)),
      bindAuthzService(authzHandlers(engine)),
      bindProjectService(projectHandlers({ store, engine, runs })),
      bindRunnerService(runs.runnerHandlers()),
      bindSkillService(skillHandlers({ store, skills, packages, catalogs, engine, repositories })),
      bindSkillPackageService(packageHandlers({ store, skills, packages })),
    ],
    routes: readRouteDocument(`${root}gen/routes/hub.json`),
    async onClose() {
      end.abort();
      await git.close();
      store.close();
    },
  };
});

/** The hub has an engine of its own, or asks svc-iam. */
function configurationFile(): string {
  const { AUTHZ_PROVIDER: provider = "embedded" } = process.env;
  if (provider === "embedded") return "hub.yaml";
  if (provider === "iam") return "hub-iam.yaml";
  throw new StartUpError([`AUTHZ_PROVIDER is ${provider}: it must be embedded or iam`]);
}
