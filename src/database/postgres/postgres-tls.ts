import { createPrivateKey, X509Certificate } from "node:crypto";
import { isAbsolute } from "node:path";
import type { ClientConfig } from "pg";
import { readRegularFile } from "../../common/regular-file.ts";
import { type Parameter, parametersOf, sslModeProblem } from "./postgres-parameters.ts";

const FILES = ["sslrootcert", "sslcert", "sslkey"] as const;

/** The problems between the parameters for TLS of a URL: those of which the driver would ignore one. */
export function contradictions(url: string): readonly string[] {
  const given: ReadonlyMap<string, string> = new Map(parametersOf(url));
  const ssl = given.get("ssl");
  const mode = given.get("sslmode");
  const isLibpq = given.get("uselibpqcompat") === "true";
  const files = FILES.filter((name) => given.has(name));
  const problems: string[] = [];

  const others = [...(mode === undefined ? [] : ["sslmode"]), ...files];
  const isOn = ssl === "true" || ssl === "1";
  if (
    ssl !== undefined &&
    others.length > 0 &&
    (!isOn || mode === "disable" || mode === "no-verify")
  ) {
    problems.push(`has ssl, which contradicts ${others.join(", ")}; remove ssl`);
  }
  const unused = mode === "disable" ? files : files.filter((name) => name === "sslrootcert");
  const isUnverified = (mode === "no-verify" && !isLibpq) || (isLibpq && mode === "prefer");
  if (unused.length > 0 && (mode === "disable" || isUnverified)) {
    problems.push(
      `has ${unused.join(", ")}, which sslmode=${mode} ignores; write sslmode=verify-full, or remove what is ignored`,
    );
  }
  if (given.has("sslcert") !== given.has("sslkey")) {
    const [has, lacks] = given.has("sslcert") ? ["sslcert", "sslkey"] : ["sslkey", "sslcert"];
    problems.push(`has ${has} without ${lacks}; give the files of both`);
  }
  if (given.get("sslnegotiation") === "direct" && (mode === "disable" || ssl === "0")) {
    problems.push("has sslnegotiation=direct, which needs TLS; write sslmode=verify-full");
  }
  if (isLibpq && mode === "no-verify") {
    problems.push(
      "has sslmode=no-verify, which uselibpqcompat does not have; write sslmode=require, or remove uselibpqcompat",
    );
  }
  if (isLibpq && mode === "verify-ca" && !given.has("sslrootcert")) {
    problems.push(
      "has sslmode=verify-ca, which needs the file of a CA in sslrootcert with uselibpqcompat; name it, or write sslmode=verify-full",
    );
  }
  return problems;
}

/** The parameters that decide on TLS, whatever the environment says. */
const DECIDES: ReadonlySet<string> = new Set(["ssl", "sslmode", ...FILES]);

/** What decides on TLS other than the environment. */
interface TlsChoice {
  /** Whether it says so itself. */
  readonly isMade: boolean;
  readonly host: string | undefined;
}

/** A URL without a mode has that of the environment. */
export function environmentProblems(url: string): readonly string[] {
  const parameters = parametersOf(url);
  const isMade = parameters.some(
    ([name, value]) => DECIDES.has(name) || (name === "sslnegotiation" && value === "direct"),
  );
  const host = parameters.find(([name]) => name === "host")?.[1];
  if (url.startsWith("socket:")) return [];
  const mode = unknownMode({ isMade, host: host ?? writtenHost(url) });
  return mode === undefined ? [] : [`has no sslmode, and ${mode}; write sslmode in the URL`];
}

/** Likewise, of the settings of the driver. */
export function settingsProblems({ ssl, host }: ClientConfig): readonly string[] {
  const mode = unknownMode({ isMade: ssl !== undefined, host });
  return mode === undefined ? [] : [`has no ssl, and ${mode}; write ssl in the settings`];
}

/** What the environment has for a mode that does not exist, if it decides: the driver turns TLS off for it. */
function unknownMode({ isMade, host }: TlsChoice): string | undefined {
  const mode = process.env["PGSSLMODE"] ?? "";
  // A Unix socket has no TLS.
  const isSocket = (host || (process.env["PGHOST"] ?? "")).startsWith("/");
  if (mode === "" || isMade || isSocket) return undefined;
  const why = sslModeProblem(mode);
  return why && `PGSSLMODE=${JSON.stringify(mode)} in the environment ${why}`;
}

/** The host before the path of a URL: that of a socket is escaped. */
function writtenHost(url: string): string {
  const [, host = ""] = /^postgres(?:ql)?:\/\/(?:[^/?]*@)?([^/?]*)/.exec(url) ?? [];
  return host.replace(/%2f/gi, "/");
}

/** The problems of the files that the parameters for TLS name. Node.js ignores a file without a CA. */
export function fileProblems(url: string): readonly string[] {
  const texts = new Map<string, string>();
  const problems: string[] = [];
  const names: readonly string[] = FILES;
  for (const [name, file] of parametersOf(url).filter(([name]) => names.includes(name))) {
    try {
      texts.set(name, readRegularFile(file).toString());
    } catch (error) {
      problems.push(unreadable([name, file], error));
    }
  }
  const ca = texts.get("sslrootcert");
  if (ca !== undefined && !isCertificate(ca)) {
    problems.push(
      "names a file in sslrootcert that holds no certificate; write the CA into it, as PEM",
    );
  }
  const [cert, key] = [texts.get("sslcert"), texts.get("sslkey")];
  if (cert !== undefined && key !== undefined && !isPair(cert, key)) {
    problems.push(
      "names files in sslcert and sslkey that are not a certificate and its private key, as PEM and not encrypted; correct them",
    );
  }
  return problems;
}

function unreadable([name, file]: Parameter, error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  const shown = JSON.stringify(file);
  if (code === "ENOENT") {
    const where = isAbsolute(file) ? "" : ` in ${process.cwd()}`;
    return `names the file ${shown} in ${name}, which does not exist${where}; correct the path`;
  }
  const fix = code === "EISDIR" ? "name a file" : "let this user read it";
  return `names the file ${shown} in ${name}, which cannot be read (${code}); ${fix}`;
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== undefined;
  } catch {
    return false;
  }
}

function isPair(cert: string, key: string): boolean {
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}
