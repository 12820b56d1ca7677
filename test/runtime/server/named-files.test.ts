/** The files that a configuration names are checked when it is loaded, at the keys that name them. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import type { ConfigurationError } from "../../../src/runtime/configuration/configuration-error.ts";
import { loadServiceConfig } from "../../../src/runtime/server/load-configuration.ts";
import { Workspace } from "../../support/workspace.ts";
import {
  type Certificates,
  type Identity,
  makeCertificates,
  opensslIsAbsent,
} from "../tls/support/certificates.ts";

const IAM = (lines: string) => `security:
  authz:
    provider: iam
    model: model.zed
    iam:
      endpoint: iam:19080
      token: an-internal-token-of-a-service
${lines}`;

/** What is reported for a configuration with these lines; nothing if it is valid. */
function problemsOf(lines: string, options: object = {}): readonly string[] {
  using workspace = new Workspace({});
  workspace.write(
    "service.yaml",
    `service: notes
environment: development
server: {http: {address: 127.0.0.1:18010}}
${lines.includes("database:") ? "" : "database: {driver: sqlite, file: notes.db}\n"}${lines}`,
  );
  workspace.write("model.zed", "definition user {}");
  workspace.write("none.pem", "no certificate");
  try {
    loadServiceConfig(`${workspace.folder}/service.yaml`, { variables: {}, ...options });
    return [];
  } catch (error) {
    const { problems } = error as ConfigurationError;
    return problems.map((problem) => problem.replaceAll(`${workspace.folder}/`, ""));
  }
}

const NO_FILE = (key: string) =>
  `${key} cannot be read: there is no x.pem; name a file that exists`;

test.each<[string, string, string[]]>([
  [
    "a CA of IAM that does not exist",
    IAM("      ca_file: x.pem"),
    [`service.yaml:12:7 ${NO_FILE("security.authz.iam.ca_file")}`],
  ],
  [
    "a CA of IAM that is not a certificate",
    IAM("      ca_file: none.pem"),
    [
      "service.yaml:12:7 security.authz.iam.ca_file (none.pem) contains no PEM certificate, which begins with -----BEGIN CERTIFICATE-----; convert DER with: openssl x509 -inform der",
    ],
  ],
  [
    "a client certificate and key that do not exist",
    IAM("      certificate_file: x.pem\n      key_file: x.pem"),
    [
      `service.yaml:12:7 ${NO_FILE("security.authz.iam.certificate_file")}`,
      `service.yaml:13:7 ${NO_FILE("security.authz.iam.key_file")}`,
    ],
  ],
  [
    "a CA of SpiceDB that does not exist",
    `security: {authz: {provider: spicedb, model: model.zed, spicedb: {endpoint: "a:1", token: b,
  ca_file: x.pem}}}`,
    [`service.yaml:6:3 ${NO_FILE("security.authz.spicedb.ca_file")}`],
  ],
  [
    "a CA of etcd that does not exist",
    `registry: {etcd: {endpoints: ["https://etcd:2379"],\n  ca_file: x.pem}}`,
    [`service.yaml:6:3 ${NO_FILE("registry.etcd.ca_file")}`],
  ],
])("%s is reported", (_, lines, problems) => {
  expect(problemsOf(lines)).toEqual(problems);
});

test("a token of IAM in a file that does not exist is reported", () => {
  const lines = IAM("").replace("token: an-internal-token-of-a-service", "token_file: x");
  expect(problemsOf(lines)).toEqual([
    "service.yaml:11:7 security.authz.iam.token_file (x) does not exist; create it, or name another file",
  ]);
});

test.skipIf(opensslIsAbsent())("files that hold what they should are not reported", () => {
  const certificates = makeCertificates();
  onTestFinished(() => certificates.remove());
  const authority = certificates.authority("ca");
  const { certificateFile, keyFile } = authority.issue("client", { commonName: "notes" });
  const files = `      ca_file: ${authority.certificateFile}
      certificate_file: ${certificateFile}
      key_file: ${keyFile}`;
  expect(problemsOf(IAM(files))).toEqual([]);
});

describe.skipIf(opensslIsAbsent())("the certificates of the servers", () => {
  let certificates: Certificates;
  let server: Identity;
  let other: Identity;
  let old: Identity;
  beforeAll(() => {
    certificates = makeCertificates();
    const authority = certificates.authority("ca");
    server = authority.issue("server", { names: "DNS:localhost" });
    other = authority.issue("other", { names: "DNS:localhost" });
    old = authority.issue("old", { names: "DNS:localhost", days: -1 });
  });
  afterAll(() => certificates.remove());

  const grpc = ({ certificateFile }: Identity, { keyFile }: Identity) =>
    `server: {http: {address: "127.0.0.1:0"}, grpc: {address: "127.0.0.1:0",
  tls: {certificate_file: ${certificateFile}, key_file: ${keyFile}}}}`;
  const load = (lines: string) => {
    using workspace = new Workspace({});
    const common = "service: notes\nenvironment: development\n";
    const database = "database: {driver: sqlite, file: notes.db}\n";
    workspace.write("service.yaml", `${common}${database}${lines}`);
    return loadServiceConfig(`${workspace.folder}/service.yaml`, { variables: {} });
  };

  test("with the key of another one are refused at their section", () => {
    expect(() => load(grpc(server, other))).toThrow(
      /service\.yaml:5:3 server\.grpc\.tls has a certificate and key that do not match: /,
    );
  });

  test("that have expired are a warning: a running server takes the renewed ones", () => {
    expect(load(grpc(server, server)).warnings).toEqual([]);
    expect(load(grpc(old, old)).warnings).toEqual([
      expect.stringMatching(
        /^server\.grpc\.tls\.certificate_file \(\S+\) has expired on \S+; renew it$/,
      ),
    ]);
  });
});

test("a program that uses none of them may ignore the files", () => {
  expect(problemsOf(IAM("      ca_file: x.pem"), { ignoreNamedFiles: true })).toEqual([]);
});

test.each([
  ["of services", "internal_call: {enabled: true, token_file: x}"],
  ["of a service", "internal_call: {enabled: true, token: [{service: hub, token_file: x}]}"],
  [
    "of the system",
    "internal_call: {enabled: true, token: [{service: hub, token: an-internal-token-of-a-service}], system_token_file: x}",
  ],
  [
    "for revocations",
    'mode: hybrid, oidc: {issuer: "https://id", audience: [a]}, revocation: {endpoint: "iam:19080", token_file: x}',
  ],
])("a token %s is read for a server only", (_, keys) => {
  const lines = `security:
  authz: {provider: embedded, model: model.zed}
  authn: {${keys}}`;
  expect(problemsOf(lines)).toEqual([
    expect.stringMatching(/^service\.yaml:7:\d+ security\.authn\.\S+ \(x\) does not exist/),
  ]);
  expect(problemsOf(lines, { ignoreNamedFiles: true })).toEqual([]);
});

test("what a configuration says of tokens is checked also for a program that does not serve", () => {
  const lines = `security:
  authz: {provider: embedded, model: model.zed}
  authn: {internal_call: {enabled: true, token: [{service: system, token: an-internal-token-of-a-service}]}}`;
  expect(problemsOf(lines, { ignoreNamedFiles: true })).toEqual([
    expect.stringContaining("system is reserved for SYSTEM calls"),
  ]);
});

test("the password of etcd is read for each program", () => {
  const lines = `security: {authz: {provider: embedded, model: model.zed}}
registry: {etcd: {endpoints: ["https://etcd:2379"], username: a, password_file: x}}`;
  for (const ignoreNamedFiles of [false, true]) {
    expect(problemsOf(lines, { ignoreNamedFiles })).toEqual([
      "service.yaml:6:66 registry.etcd.password_file (x) does not exist; create it, or name another file",
    ]);
  }
});

test("files of an engine that is never asked are not reported", () => {
  const lines = IAM("      ca_file: x.pem").replace(
    "provider: iam",
    "provider: iam\n    enabled: false",
  );
  expect(problemsOf(lines)).toEqual([]);
});

test("the files of the URL of PostgreSQL, and the mode of the environment, are for those who connect", () => {
  const database = (query: string) =>
    `database: {driver: postgres, url: "postgres://u@h/db?${query}"}`;
  vi.stubEnv("PGSSLMODE", "requre");
  onTestFinished(() => void vi.unstubAllEnvs());
  const withFile = database("sslmode=verify-full&sslrootcert=/nope.pem");
  const withoutMode = database("connect_timeout=2");
  expect(problemsOf(withFile)).toEqual([
    expect.stringMatching(
      /^service.yaml:4:30 database.url names the file "\/nope.pem" in sslrootcert, which does not exist/,
    ),
  ]);
  expect(problemsOf(withoutMode)).toEqual([
    expect.stringMatching(/^service.yaml:4:30 database.url has no sslmode, and PGSSLMODE="requre"/),
  ]);
  for (const lines of [withFile, withoutMode]) {
    expect(problemsOf(lines, { ignoreNamedFiles: true })).toEqual([]);
  }
});
