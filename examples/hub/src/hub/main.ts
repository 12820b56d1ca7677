/** The hub: `node src/hub/main.ts [CONFIGURATION]`. */
import { readFileSync } from "node:fs";
import {
  createAuthorizationEngine,
  createGrpcClient,
  loadServiceConfig,
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

const config = loadServiceConfig(
  process.argv[2] ?? new URL("../../hub.yaml", import.meta.url).pathname,
);
const engine = await createAuthorizationEngine(config);
const store = new Store(`${DATA}/hub.db`);
const skills = store.collection("skill", SkillSchema);
const packages = new Packages(store);
const runs = new Runs(store, skills);
const git = createGrpcClient(RepositoryService, { address: GIT_ADDRESS, internalToken: HUB_TOKEN });

if (config.environment === "development") await seed(engine);

await runServer({
  config,
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
  routes: JSON.parse(readFileSync(new URL("../../gen/routes/hub.json", import.meta.url), "utf8")),
  onClose() {
    git.close();
    store.close();
  },
});
