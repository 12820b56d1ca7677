/** Service accounts of the configuration, whose tokens are for services. */
import { randomBytes, randomUUID } from "node:crypto";
import * as client from "openid-client";
import { createGrpcClient } from "svc-access/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import { IAMAuthService } from "../../../gen/svc/iam/v1/auth_pb.ts";
import {
  type IamService,
  INTERNAL_TOKEN,
  LOGIN_CLIENT,
  startIam,
} from "../../support/iam-service.ts";

const OWN = "urn:acme:iam";
const NOTES = "https://notes.example.com";
const robot = (audience: readonly string[]) => ({
  id: randomUUID(),
  name: "Robot",
  flows: ["service_account"],
  client_secret: randomBytes(32).toString("base64url"),
  audience,
});
const [both, one, none] = [robot([OWN, NOTES]), robot([OWN]), robot([])] as const;

let iam: IamService;
beforeAll(async () => {
  iam = await startIam({
    iam: { clients: [both, one, none] },
    oidc: { audience: [LOGIN_CLIENT, OWN] },
  });
});
afterAll(() => iam.stop());

/** Gets a token as the service account, and asks the service about it. */
async function verified(of: ReturnType<typeof robot>, parameters: Record<string, string> = {}) {
  const configuration = await client.discovery(
    new URL(`${iam.origin}/v1/iam/oidc`),
    of.id,
    undefined,
    client.ClientSecretBasic(of.client_secret),
    { execute: [client.allowInsecureRequests] },
  );
  const tokens = await client.clientCredentialsGrant(configuration, parameters);
  const service = createGrpcClient(IAMAuthService, {
    target: iam.grpcTarget,
    internalToken: INTERNAL_TOKEN,
  });
  try {
    return await service.verifyToken({ token: tokens.access_token });
  } finally {
    await service.close();
  }
}

test("a service accepts those that are for it, of whichever service account [IDP-27]", async () => {
  for (const of of [both, one]) {
    for (const parameters of [{}, { resource: OWN }]) {
      const { active, principal } = await verified(of, parameters);
      expect([active, principal?.subjectId]).toEqual([true, of.id]);
    }
  }
});

test("a service refuses those that are for another one, or for their client [IDP-27]", async () => {
  for (const refused of [verified(both, { resource: NOTES }), verified(none)]) {
    expect(await refused).toMatchObject({ active: false, reason: "wrong_audience" });
  }
  await expect(verified(one, { resource: NOTES })).rejects.toMatchObject({
    error: "invalid_target",
  });
});
