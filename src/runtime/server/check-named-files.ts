import { ENGINE_KINDS } from "../../authz/engine/engine-kinds.ts";
import { readRegularFile } from "../../common/regular-file.ts";
import { postgresMachineProblems } from "../../database/postgres/postgres-url.ts";
import type { ServiceConfigProblem } from "../configuration/configuration-error.ts";
import type { ServiceConfig } from "../configuration/service-config.ts";
import { readSecretFile } from "../secret/read-secret-file.ts";
import { readCertificates, readPrivateKey } from "../tls/certificate-list.ts";
import { checkServerTls } from "../tls/check-tls.ts";
import { unreadable } from "../tls/tls-files.ts";

/**
 * The files of certificates, keys and tokens that a configuration names: a start would be refused for
 * them later, without the position, or the service would never be ready.
 */
export function* checkNamedFiles(config: ServiceConfig): Iterable<ServiceConfigProblem> {
  const { server, security, registry, database } = config;
  const { authn, authz } = security;
  yield* checkServers(server);
  yield* checkTlsFiles(["security", "authn", "revocation"], authn.revocation);
  // An engine that is never asked needs no files.
  if (authz.enabled && !authz.dev_allow_all) {
    for (const kind of ENGINE_KINDS) {
      // The embedded engine has no keys of its own.
      if (kind !== "embedded") yield* checkTlsFiles(["security", "authz", kind], authz[kind]);
    }
    yield* checkTokenFile(["security", "authz", "iam", "token_file"], authz.iam?.token_file);
  }
  yield* checkTlsFiles(["registry", "etcd"], registry?.etcd);
  for (const problem of database?.url === undefined ? [] : postgresMachineProblems(database.url)) {
    yield { path: ["database", "url"], message: `database.url ${problem}` };
  }
}

/** A certificate that has expired is a warning, as at a start: a running server picks up the renewed one. */
function* checkServers(server: ServiceConfig["server"]): Iterable<ServiceConfigProblem> {
  for (const { at, problems, warnings } of checkServerTls(server)) {
    const path = at.split(".");
    // The key that a message begins with, or the section: what is wrong may be two files together.
    const pathOf = (message: string) => {
      const key = Object.keys(CONTENTS).find((key) => message.startsWith(`${at}.${key} `));
      return key === undefined ? path : [...path, key];
    };
    for (const message of problems) yield { path: pathOf(message), message };
    for (const message of warnings) yield { path: pathOf(message), message, severity: "warning" };
  }
}

type Content = (pem: Buffer) => object;

const CONTENTS: Readonly<Record<string, Content>> = {
  certificate_file: readCertificates,
  ca_file: readCertificates,
  client_ca_file: readCertificates,
  key_file: readPrivateKey,
};

/** @param section the keys and values of a section, which may have others, too */
function* checkTlsFiles(
  path: readonly string[],
  section: object | undefined,
): Iterable<ServiceConfigProblem> {
  const values = (section ?? {}) as Readonly<Record<string, unknown>>;
  for (const [key, read] of Object.entries(CONTENTS)) {
    const file = values[key];
    if (typeof file !== "string") continue;
    const at = [...path, key];
    const message = problemOf(at.join("."), file, read);
    if (message !== undefined) yield { path: at, message };
  }
}

function problemOf(key: string, file: string, read: Content): string | undefined {
  let pem: Buffer;
  try {
    pem = readRegularFile(file);
  } catch (error) {
    return unreadable(key, file, error);
  }
  const content = read(pem);
  return "problem" in content ? `${key} (${file}) ${content.problem}` : undefined;
}

function* checkTokenFile(
  path: readonly string[],
  file: string | undefined,
): Iterable<ServiceConfigProblem> {
  if (file === undefined) return;
  const { problem } = readSecretFile(file, { minLength: 1, inHeader: true });
  if (problem !== undefined) yield { path, message: `${path.join(".")} (${file}) ${problem}` };
}
