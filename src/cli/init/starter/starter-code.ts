import type { GeneratedCode } from "./generated-code.ts";

/** The handlers. */
export function handlersTs(word: string, title: string, gen: GeneratedCode): string {
  return `import type { AuthorizationEngine } from "svc-access/authz";
import { requirePrincipal, ServiceError } from "svc-access/runtime";
import type { ${title}ServiceHandlers } from "${gen.fromSource}/${word}/v1/${word}_server.ts";

/** The items of a list at most. A list without paging must have a limit, and with a part of them it would seem complete. */
const MOST_ITEMS = 10_000;

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
      const readable = { resourceType: "item", permission: "read", subject };
      const ids: string[] = [];
      let cursor: string | undefined;
      do {
        const request = cursor === undefined ? readable : { ...readable, cursor };
        const page = await engine.lookupResources(request, { signal: context.signal });
        ids.push(...page.items);
        if (ids.length > MOST_ITEMS) {
          throw new ServiceError("FAILED_PRECONDITION", "you may read too many items to list them");
        }
        cursor = page.nextCursor;
      } while (cursor !== undefined);
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
  const routes = readRouteDocument(join(folder, "${gen.folder}/routes/${name}.json"));
  const { bind${title}Service } = await import("${gen.fromSource}/${word}/v1/${word}_server.ts");
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
    routes,
  };
});
`;
}

/** The tests of the handlers, without a server. */
export function handlersTestTs(word: string, gen: GeneratedCode): string {
  return `/** Tests of handlers: no access policy is enforced here. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { testContext, testEngine } from "svc-access/testing";
import { ListItemsRequestSchema, SetItemRequestSchema } from "${gen.fromTests}/${word}/v1/${word}_pb.ts";
import { handlers } from "../src/handlers.ts";

const MODEL = join(import.meta.dirname, "../model.zed");

test("an item remembers who changed it", async () => {
  await using engine = await testEngine({ model: MODEL });
  const service = handlers(engine);
  const request = create(SetItemRequestSchema, { itemId: "first", text: "hello" });
  const { item } = await service.setItem(request, testContext({ user: "alice" }));
  assert.equal(item?.changedBy, "alice");
});

test("an item without a text is rejected", async () => {
  await using engine = await testEngine({ model: MODEL });
  const service = handlers(engine);
  const request = create(SetItemRequestSchema, { itemId: "first" });
  await assert.rejects(service.setItem(request, testContext({ user: "alice" })), {
    code: "INVALID_ARGUMENT",
  });
});

test("a list has the items of all pages of the engine", async () => {
  const itemIds = Array.from({ length: 1001 }, (_, index) => \`item-\${index}\`);
  const relationships = itemIds.map((id) => \`item:\${id}#owner@user:alice\`);
  await using engine = await testEngine({ model: MODEL, relationships });
  const service = handlers(engine);
  const alice = testContext({ user: "alice" });
  for (const itemId of itemIds) {
    await service.setItem(create(SetItemRequestSchema, { itemId, text: "hello" }), alice);
  }
  const { items } = await service.listItems(create(ListItemsRequestSchema), alice);
  assert.equal(items?.length, itemIds.length);
});
`;
}

/** The tests of the whole service and its policies. */
export function serviceTestTs(
  name: string,
  word: string,
  title: string,
  gen: GeneratedCode,
): string {
  return `/** Tests of the whole service: the production server, on free ports, with its own stores. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { startTestServer } from "svc-access/testing";
import { ${title}Service } from "${gen.fromTests}/${word}/v1/${word}_pb.ts";
import { bind${title}Service } from "${gen.fromTests}/${word}/v1/${word}_server.ts";
import { handlers } from "../src/handlers.ts";

/** The folder of the service, wherever the tests are started from. */
const folder = join(import.meta.dirname, "..");

const start = () =>
  startTestServer((engine) => bind${title}Service(handlers(engine)), {
    model: join(folder, "model.zed"),
    routes: join(folder, "${gen.folder}/routes/${name}.json"),
    relationships: ["item:first#owner@user:alice"],
    services: ["alice"],
  });

test("the owner may change an item, others may not, and both calls are audited", async () => {
  await using server = await start();
  const alice = server.as({ user: "alice" }).grpc(${title}Service);
  const bob = server.as({ user: "bob" }).grpc(${title}Service);

  await alice.setItem({ itemId: "first", text: "hello" });
  await assert.rejects(bob.setItem({ itemId: "first", text: "mine" }), { code: "FORBIDDEN" });

  const { items } = await alice.listItems({});
  assert.deepEqual(
    items.map(({ text }) => text),
    ["hello"],
  );
  assert.deepEqual((await bob.listItems({})).items, []);
  // A service or a service account with the same name is another caller.
  for (const other of [
    { service: "alice" },
    { user: "alice", subjectType: "service_account" },
  ] as const) {
    assert.deepEqual((await server.as(other).grpc(${title}Service).listItems({})).items, []);
  }

  const events = await server.auditEvents({ type: "${word}.item.set" });
  assert.deepEqual(
    events.map(({ data }) => \`\${data.principal?.id} \${data.decision}\`),
    ["alice allowed", "bob denied"],
  );
});

test("over HTTP, everyone may get the version, and only logged-in users may list items", async () => {
  await using server = await start();
  const nobody = server.as("nobody");
  assert.deepEqual(await (await nobody.fetch("/v1/${name}/version")).json(), { version: "1.0.0" });
  assert.equal((await nobody.fetch("/v1/${name}/items")).status, 401);
});
`;
}
