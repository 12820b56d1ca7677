/** Answers of many bytes: commands ask for the largest pages. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { IAMAuthorizationService } from "../../gen/svc/iam/v1/administration_pb.ts";
import { IAMAuthorizationServiceRoutes } from "../../gen/svc/iam/v1/administration_server.ts";
import { connectionTo } from "../../src/commands/connection/http-connection.ts";

test("a page of paths through many groups is read [CMD-2]", async () => {
  const step = {
    resource: { type: "group", id: "5f0c2d1e-0000-4000-8000-000000000000" },
    relation: "member",
    subject: { type: "group", id: "5f0c2d1e-0000-4000-8000-000000000001", relation: "member" },
  };
  const entry = { subject: step.subject, path: Array.from({ length: 40 }, () => step) };
  const body = JSON.stringify({ entries: Array.from({ length: 1000 }, () => entry) });
  expect(body.length).toBeGreaterThan(5 * 1024 * 1024);
  const server = createServer((_, response) => {
    response.setHeader("content-type", "application/json").end(body);
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const place = { server: `http://127.0.0.1:${port}`, organizationId: "acme" };
  await using connection = connectionTo(place);
  const service = connection.client(IAMAuthorizationService, IAMAuthorizationServiceRoutes);
  const resource = { type: "zone", id: "acme" };
  const { entries } = await service.listAccess({ resource, permission: "owner" });
  expect(entries).toHaveLength(1000);
});
