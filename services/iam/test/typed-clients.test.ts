/** What a service of another repository does with `svc-access/iam`, over both transports. */
import { IAMAuthService, IAMPermissionService, IAMPermissionServiceRoutes } from "svc-access/iam";
import { createGrpcClient, createHttpClient } from "svc-access/runtime";
import { expect, test } from "vitest";
import { INTERNAL_TOKEN, startIam } from "./support/iam-service.ts";

test("typed clients of svc-access/iam call svc-iam [PLAT-12]", async () => {
  const iam = await startIam({ iam: { services: { hub: { read_types: ["project"] } } } });
  try {
    const options = { internalToken: INTERNAL_TOKEN, timeoutMs: 60_000 };
    const target = { ...options, target: iam.grpcTarget };
    const origin = { ...options, baseUrl: iam.origin };
    await using grpc = createGrpcClient(IAMPermissionService, target);
    await using http = createHttpClient(IAMPermissionService, IAMPermissionServiceRoutes, origin);
    const question = {
      subject: { type: "user", id: "alice" },
      resource: { type: "project", id: "1" },
      permission: "read",
    };
    expect((await grpc.checkPermission(question)).allowed).toBe(false);
    expect((await http.checkPermission(question)).allowed).toBe(false);
    const zone = { ...question, resource: { type: "zone", id: "acme" }, permission: "view_zone" };
    await expect(grpc.checkPermission(zone)).rejects.toMatchObject({ code: "FORBIDDEN" });
    await expect(http.checkPermission(zone)).rejects.toMatchObject({ code: "FORBIDDEN" });
    await using auth = createGrpcClient(IAMAuthService, target);
    expect(await auth.verifyToken({ token: "not-a-token" })).toMatchObject({ active: false });
  } finally {
    await iam.stop();
  }
});
