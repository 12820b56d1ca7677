/** The hub: `node src/hub/main.ts [CONFIGURATION]`. */
import {
  createAuthorizationEngine,
  createGrpcClient,
  loadServiceConfig,
  readRouteDocument,
  runServer,
} from "svc-access/runtime";
import { RepositoryService } from "../../gen/git/v1/repository_service_pb.ts";
import { bindAuthnService } from "../../gen/hub/authn/v1/authn_server.ts";
import { bindAuthzService } from "../../gen/hub/authz/v1/authz_server.ts";
import {
  bindProjectService,
  bindRunnerService,
} from "../../gen/hub/projects/v1/project_service_server.ts";
import { SkillSchema } from "../../gen/hub/skills/v1/skill_pb.ts";
import {
  bindSkillPackageService,
  bindSkillService,
} from "../../gen/hub/skills/v1/skill_service_server.ts";
import { Store } from "../store.ts";
import { authnHandlers } from "./authn.ts";
import { authzHandlers } from "./authz.ts";
import { Packages, packageHandlers } from "./packages.ts";
import { projectHandlers } from "./projects.ts";
import { gitRepositories } from "./repositories.ts";
import { Runs } from "./runs.ts";
import { seed } from "./seed.ts";
import { skillHandlers } from "./skills.ts";

const { GIT_ADDRESS = "127.0.0.1:19002", HUB_TOKEN = "", DATA = "data" } = process.env;

const configuration = loadServiceConfig(
  process.argv[2] ?? new URL("../../hub.yaml", import.meta.url).pathname,
);
const engine = await createAuthorizationEngine(configuration.config);
const store = new Store(`${DATA}/hub.db`);
const skills = store.collection("skill", SkillSchema);
const packages = new Packages(store);
const runs = new Runs(store, skills);
const git = createGrpcClient(RepositoryService, { target: GIT_ADDRESS, internalToken: HUB_TOKEN });

if (configuration.config.environment === "development") await seed(engine);

await runServer({
  configuration,
  engine,
  bindings: [
    bindAuthnService(authnHandlers(store)),
    bindAuthzService(authzHandlers(engine)),
    bindProjectService(projectHandlers({ store, engine, runs })),
    bindRunnerService(runs.runnerHandlers()),
    bindSkillService(
      skillHandlers({ skills, packages, engine, repositories: gitRepositories(git) }),
    ),
    bindSkillPackageService(packageHandlers(skills, packages)),
  ],
  routes: readRouteDocument(new URL("../../gen/routes/hub.json", import.meta.url).pathname),
  async onClose() {
    await git.close();
    store.close();
  },
});
