import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createServer,
  loadServiceConfig,
  type RouteDocument,
  requirePrincipal,
  ServiceError,
} from "svc-access/runtime";
import { stringify } from "yaml";
import { freePort } from "../../../../test/support/free-port.ts";
import allRoutes from "../../gen/routes/iam.json" with { type: "json" };
import { IAMAuthService } from "../../gen/svc/iam/v1/auth_pb.ts";
import {
  bindIAMAuthService,
  type IAMAuthServiceHandlers,
} from "../../gen/svc/iam/v1/auth_server.ts";
import { INTERNAL_TOKEN, LOGIN_CLIENT } from "../support/iam-service.ts";
import { callAt, type Replica } from "./replica.ts";

const MODEL = new URL("../../../../model/iam.zed", import.meta.url).pathname;

/** A service of the platform that verifies tokens itself, and follows the revocations of a replica. */
export async function startFollowingService(
  issuerOrigin: string,
  replica: Replica,
  more: { readonly oidc?: object } = {},
) {
  const folder = mkdtempSync(join(tmpdir(), "following-service-"));
  const file = join(folder, "service.yaml");
  const origin = `http://127.0.0.1:${await freePort()}`;
  const issuer = `${issuerOrigin}/v1/iam/oidc`;
  writeFileSync(
    file,
    stringify({
      environment: "test",
      service: "iam",
      log: { level: "error" },
      server: { http: { address: new URL(origin).host } },
      security: {
        authn: {
          mode: "idp_jwt",
          oidc: { issuer, audience: [LOGIN_CLIENT], ...more.oidc },
          revocation: {
            endpoint: `127.0.0.1:${replica.grpcPort}`,
            token: INTERNAL_TOKEN,
            insecure: true,
          },
        },
        authz: { provider: "embedded", model: MODEL },
      },
      database: { driver: "sqlite", file: "service.db" },
    }),
  );
  const handlers = new Proxy({} as IAMAuthServiceHandlers, {
    get: () => async (_: unknown, context: Parameters<typeof requirePrincipal>[0]) => {
      if (context.principal === undefined) throw new ServiceError("UNIMPLEMENTED");
      return { user: { subjectId: requirePrincipal(context).subjectId } };
    },
  });
  const routes = {
    ...allRoutes,
    paths: [],
    routes: allRoutes.routes.filter(({ entry }) =>
      entry.rpc.startsWith(`${IAMAuthService.typeName}/`),
    ),
  } as unknown as RouteDocument;
  const server = await createServer({
    configuration: loadServiceConfig(file),
    bindings: [bindIAMAuthService(handlers)],
    routes,
  });
  await server.start();
  return {
    call: (
      method: string,
      path: string,
      body?: unknown,
      headers: Readonly<Record<string, string>> = {},
    ) => callAt(origin, method, path, body, headers),
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
