/** The route registry in a real etcd over TLS. */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type EtcdConnection,
  publishRoutes,
  type RegisteredRoute,
  watchRoutes,
} from "../../../src/runtime/registry/index.ts";
import { readRouteDocument } from "../../../src/runtime/registry/route-entry.ts";
import { etcdIsAbsent } from "../../support/etcd.ts";
import { readyz, until, untilReady } from "../faults/support/until.ts";
import { documentOf, entryOf } from "../registry/documents.ts";
import { FIXTURE, startVault } from "../support/vault-server.ts";
import {
  type Authority,
  type Certificates,
  type Identity,
  makeCertificates,
  opensslIsAbsent,
} from "./support/certificates.ts";
import { type SecuredEtcd, startSecuredEtcd } from "./support/secured-etcd.ts";

const NOT_YET = { status: 503, reasons: "route registry: the routes are not published yet" };

describe.skipIf(etcdIsAbsent() || opensslIsAbsent())("the route registry over TLS", () => {
  let certificates: Certificates;
  let ca: Authority;
  let other: Authority;
  let client: Identity;
  let etcd: SecuredEtcd;
  let mutual: SecuredEtcd;

  beforeAll(async () => {
    certificates = makeCertificates();
    ca = certificates.authority("ca");
    other = certificates.authority("other");
    client = ca.issue("client", { commonName: "publisher", usage: "clientAuth" });
    const server = ca.issue("server", { names: "DNS:localhost,IP:127.0.0.1" });
    etcd = await startSecuredEtcd(server, ca);
    mutual = await startSecuredEtcd(server, ca, ca);
  });
  afterAll(async () => {
    await etcd?.remove();
    await mutual?.remove();
    certificates?.remove();
  });

  const own = () => ({
    caFile: ca.certificateFile,
    certificateFile: client.certificateFile,
    keyFile: client.keyFile,
  });
  const warnings: string[] = [];
  const logger = {
    debug: () => undefined,
    info: () => undefined,
    warn: (fields: object) => void warnings.push(JSON.stringify(fields)),
    error: () => undefined,
  };
  const publish = (connection: EtcdConnection) =>
    publishRoutes({
      etcd: connection,
      environment: "test",
      documents: [documentOf(entryOf("Get"))],
      leaseTtlSeconds: 5,
      logger,
    });
  const watch = (connection: EtcdConnection, reported: (readonly RegisteredRoute[])[]) =>
    watchRoutes({
      etcd: connection,
      environment: "test",
      onRoutes: (routes) => void reported.push(routes),
      logger,
    });

  test.each<[string, () => EtcdConnection]>([
    ["with its CA", () => ({ endpoints: [etcd.endpoint], caFile: ca.certificateFile })],
    ["with a client certificate", () => ({ endpoints: [mutual.endpoint], ...own() })],
  ])("is published and watched %s", async (_what, connection) => {
    const reported: (readonly RegisteredRoute[])[] = [];
    const watcher = watch(connection(), reported);
    const publisher = publish(connection());
    await until("the watcher sees the route", () => reported.at(-1)?.length === 1);
    await until("the publisher is ready", () => publisher.readiness() === undefined);
    expect(reported.at(-1)?.[0]?.entry).toEqual(entryOf("Get"));
    await publisher.close();
    await until("the watcher sees it go", () => reported.at(-1)?.length === 0);
    await watcher.close();
  });

  test.each<[string, () => EtcdConnection, RegExp]>([
    [
      "with another CA",
      () => ({ endpoints: [etcd.endpoint], caFile: other.certificateFile }),
      /unable to verify the first certificate/,
    ],
    [
      "with the public CAs",
      () => ({ endpoints: [etcd.endpoint] }),
      /unable to verify the first certificate/,
    ],
    [
      "without a required client certificate",
      () => ({ endpoints: [mutual.endpoint], caFile: ca.certificateFile }),
      /alert (certificate required|bad certificate)|Failed to connect/,
    ],
    [
      "with a client certificate of another CA",
      () => {
        const { certificateFile, keyFile } = other.issue("stranger", { commonName: "publisher" });
        const caFile = ca.certificateFile;
        return { endpoints: [mutual.endpoint], caFile, certificateFile, keyFile };
      },
      /alert (unknown ca|bad certificate)|Failed to connect/,
    ],
    [
      "with a CA that does not exist",
      () => ({ endpoints: [etcd.endpoint], caFile: certificates.path("nowhere") }),
      /registry\.etcd\.ca_file cannot be read: there is no .*nowhere; name a file that exists/,
    ],
    [
      "with files that are something else",
      () => ({
        endpoints: [etcd.endpoint],
        caFile: ca.keyFile,
        certificateFile: client.keyFile,
        keyFile: client.certificateFile,
      }),
      /ca_file .* contains a private key, but no certificate.*certificate_file .* contains a private key, but no certificate.*key_file .* contains a certificate, but no private key/,
    ],
    [
      "with a certificate without its key",
      () => ({ ...own(), endpoints: [mutual.endpoint], keyFile: undefined }),
      /registry\.etcd must have certificate_file and key_file, or neither/,
    ],
  ])("is not published %s, and the reason is logged", async (_what, connection, reason) => {
    warnings.length = 0;
    const publisher = publish(connection());
    await until("a reason is logged", () => warnings.length > 0);
    expect(warnings[0]).toMatch(reason);
    expect(publisher.readiness()).toBe("the routes are not published yet");
    await publisher.close();
  });

  test("is published with the client certificate of the configuration", async () => {
    const { caFile: ca_file, certificateFile: certificate_file, keyFile: key_file } = own();
    const configured = { endpoints: [mutual.endpoint], ca_file, certificate_file, key_file };
    const vault = await startVault({
      routes: readRouteDocument(join(FIXTURE, "gen/routes/vault.json")),
      config: { registry: { etcd: configured } },
    });
    try {
      await untilReady(vault.http);
    } finally {
      await vault.stop();
    }
  });

  test("waits for the right CA while the service serves, and uses it without a restart", async () => {
    const caFile = certificates.path("etcd-ca.pem");
    copyFileSync(other.certificateFile, caFile);
    const vault = await startVault({
      routes: readRouteDocument(join(FIXTURE, "gen/routes/vault.json")),
      config: { registry: { etcd: { endpoints: [etcd.endpoint], ca_file: caFile } } },
    });
    try {
      await until("a reason is logged", () =>
        vault.lines.some((line) => line.includes("cannot be published")),
      );
      expect(await readyz(vault.http)).toEqual(NOT_YET);
      const answer = await fetch(`http://127.0.0.1:${vault.http}/v1/notices/n`);
      expect(answer.status).toBe(200);
      copyFileSync(ca.certificateFile, caFile);
      await untilReady(vault.http);
    } finally {
      await vault.stop();
    }
  });
});
