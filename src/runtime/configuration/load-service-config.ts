import { readFileSync } from "node:fs";
import { dirname, isAbsolute, resolve } from "node:path";
import {
  type ConfigDocument,
  type ConfigPath,
  type DocumentProblem,
  readConfigDocument,
  type TextPlace,
} from "../../config/config-document.ts";
import { formatPath } from "../../config/describe-issue.ts";
import type { Variables } from "../../config/variables.ts";
import {
  checkDefaults,
  checkServiceConfig,
  type ServiceConfigCheck,
} from "./check-service-config.ts";
import { ConfigurationError, type ServiceConfigProblem } from "./configuration-error.ts";
import { describeProblem } from "./describe-problem.ts";
import { type ListenAddresses, withAddresses } from "./listen-addresses.ts";
import { withNarrowestBounds } from "./narrowest-bounds.ts";
import { withSecretFiles } from "./secret-files.ts";
import { assertSections, readSections, splitSections } from "./sections.ts";
import { type ServiceConfig, serviceConfigSchema } from "./service-config.ts";
import type { ConfigurationSections, SectionValues } from "./standard-schema.ts";

/**
 * How a configuration is loaded.
 *
 * @typeParam Sections - the service's own sections, with their schemas
 */
export interface LoadServiceConfigOptions<
  Sections extends ConfigurationSections = ConfigurationSections,
> {
  /** What `${VAR}` reads; the process's environment if absent. */
  readonly variables?: Variables;
  /**
   * The sections of the service's own, by their top-level keys, each with a schema, such as one of
   * zod. It gets the section with its variables replaced, or undefined if the file has none.
   */
  readonly sections?: Sections;
  /**
   * Whether sections that are not declared are ignored; false if absent, since a misspelt key is
   * one. For programs that read the configuration of another, as the commands of `svc-access` do.
   */
  readonly ignoreOtherSections?: boolean;
  /**
   * Whether the files of certificates and keys, and those of tokens of calls between services, are left to
   * what uses them; false if absent, so that a server finds their problems before its start. For programs
   * that use a part of the configuration, such as its database. The passwords of the database and etcd, and
   * the token of SpiceDB, are part of the configuration, and always read.
   */
  readonly ignoreNamedFiles?: boolean;
  /** Where servers listen that the file does not name, such as `{http: "0.0.0.0:8080"}`; nowhere if absent. */
  readonly addresses?: ListenAddresses;
  /** Further checks of the configuration; their problems are reported with all others. */
  readonly checks?: readonly ServiceConfigCheck<SectionValues<NoInfer<Sections>>>[];
}

/**
 * A configuration that a service can start with.
 *
 * @typeParam Sections - the values of the service's own sections
 */
export interface LoadedServiceConfig<Sections = unknown> {
  /**
   * The content of the file, with defaults, and with the values of `${VAR}` and secret files. It
   * contains secrets.
   */
  readonly config: ServiceConfig;
  /** The service's own sections, as their schemas return them. They may contain secrets. */
  readonly sections: Sections;
  /** Dangerous settings, one line each, to be logged at every start. */
  readonly warnings: readonly string[];
  /** The absolute path of the file, for the line `started` of the log; absent if it is from no file. */
  readonly file?: string;
}

/**
 * Loads the configuration of a service from a file. Paths of files in it are
 * relative to it.
 *
 * @throws ConfigurationError with all errors, each with its position
 */
export function loadServiceConfig<Sections extends ConfigurationSections = Record<never, never>>(
  file: string,
  options: LoadServiceConfigOptions<Sections> = {},
): LoadedServiceConfig<SectionValues<Sections>> {
  return parseServiceConfig(readText(file), file, options);
}

/**
 * Reads the configuration of a service from its text.
 *
 * @param file - where the text is from, for messages and for the paths in it
 * @throws ConfigurationError with all errors, each with its position
 */
export function parseServiceConfig<Sections extends ConfigurationSections = Record<never, never>>(
  text: string,
  file: string,
  options: LoadServiceConfigOptions<Sections> = {},
): LoadedServiceConfig<SectionValues<Sections>> {
  const { variables = process.env, checks = [], ignoreOtherSections = false } = options;
  const schemas: ConfigurationSections = options.sections ?? {};
  assertSections(schemas);
  const names = Object.keys(schemas);
  const document = readConfigDocument(text, variables);
  const findings = document.problems.map((problem): Finding => {
    return { ...problem, message: withoutSource(problem) };
  });
  const { value, locate } = document;
  if (value === undefined) throw refusal(file, findings);

  const isUnset = document.problems.some(({ rule }) => rule === "CONFIG_VARIABLE");
  const { builtIn, declared } = splitSections(value, names, ignoreOtherSections);
  const addressed = withAddresses(builtIn, options.addresses ?? {});
  const parsed = serviceConfigSchema.safeParse(addressed, { reportInput: true });
  for (const issue of withNarrowestBounds(parsed.error?.issues ?? [])) {
    // Text whose variable is not set is not the value that the schema should see.
    if (isUnset && typeof issue.input === "string" && issue.input.includes("${")) continue;
    const problems = describeProblem(issue, names).map((one) => blameVariable(one, document));
    findings.push(...problems.map((problem) => locatedAt(problem, locate)));
  }
  findings.push(...keysThatVanish(builtIn).map((problem) => locatedAt(problem, locate)));
  const own = readSections(schemas, declared, { folder: dirname(file), isUnset });
  findings.push(...own.problems.map((one) => locatedAt(blameVariable(one, document), locate)));
  if (findings.length > 0 || parsed.data === undefined) throw refusal(file, findings);

  const { config, problems: unread } = withSecretFiles(resolveFiles(parsed.data, dirname(file)));
  const sections = own.values as SectionValues<Sections>;
  const problems: readonly ServiceConfigProblem[] = [
    ...checkDefaults(parsed.data, own.texts, document),
    ...checkServiceConfig(parsed.data),
    ...unread,
    ...checks.flatMap((check) => [...check(config, sections)]),
  ];
  const errors = problems.filter(({ severity }) => severity !== "warning");
  if (errors.length > 0) {
    throw refusal(
      file,
      errors.map((problem) => locatedAt(problem, locate)),
    );
  }
  return {
    config,
    sections,
    warnings: problems.map(({ message }) => message),
    file: resolve(file),
  };
}

interface Finding extends TextPlace {
  readonly message: string;
}

/**
 * The required form of a value does not help if its variable is empty: the value would be valid if
 * it were set.
 */
function blameVariable(problem: ServiceConfigProblem, document: ConfigDocument) {
  const variable = document.emptiedBy(problem.path);
  if (variable === undefined) return problem;
  const message = `${formatPath(problem.path)} is empty: the variable ${variable} is empty`;
  return { ...problem, message };
}

function locatedAt({ path, message }: ServiceConfigProblem, locate: Locate): Finding {
  return { message, ...locate(path) };
}

type Locate = (path: ConfigPath) => TextPlace;

function refusal(file: string, findings: readonly Finding[]): ConfigurationError {
  const sorted = findings.toSorted((a, b) => a.line - b.line || a.column - b.column);
  const lines = sorted.map(({ line, column, message }) => `${file}:${line}:${column} ${message}`);
  return new ConfigurationError(file, [...new Set(lines)]);
}

/** zod skips a key that would set a prototype; here it must be reported. */
function keysThatVanish(value: unknown, path: ConfigPath = []): ServiceConfigProblem[] {
  if (typeof value !== "object" || value === null || path.length > MAX_DEPTH) return [];
  const below = Object.entries(value).flatMap(([key, item]) => {
    return keysThatVanish(item, [...path, Array.isArray(value) ? Number(key) : key]);
  });
  if (!Object.hasOwn(value, "__proto__")) return below;
  return [
    { path: [...path, "__proto__"], message: `${[...path, "__proto__"].join(".")} is not a key` },
  ];
}

/** Deeper than any key of the schema; aliases can make a document endless. */
const MAX_DEPTH = 8;

const NOT_ALLOWED = "; let this user read it";
/** What helps against an error of reading. */
const UNREADABLE: Readonly<Record<string, string>> = {
  EISDIR: "; it is a folder: name the file in it",
  ENOTDIR: "; a part of its path is a file: name the configuration file",
  EACCES: NOT_ALLOWED,
  EPERM: NOT_ALLOWED,
};

function readText(file: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why =
      code === "ENOENT"
        ? `does not exist${isAbsolute(file) ? "" : ` in ${process.cwd()}`}; name the configuration file`
        : `cannot be read (${code})${UNREADABLE[code ?? ""] ?? ""}`;
    throw new ConfigurationError(file, [`${file} ${why}`], { cause: error });
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    const problem = `${file} is not UTF-8 text; name the configuration file, or save it as UTF-8`;
    throw new ConfigurationError(file, [problem], { cause: error });
  }
}

/** The keys whose values are paths of files. */
const FILE_KEYS: ReadonlySet<string> = new Set([
  "certificate_file",
  "key_file",
  "client_ca_file",
  "ca_file",
  "token_file",
  "system_token_file",
  "password_file",
  "model",
  "file",
]);

/** The configuration with its files as absolute paths: they are relative to the configuration. */
function resolveFiles(config: ServiceConfig, folder: string): ServiceConfig {
  return resolveIn(config, folder) as ServiceConfig;
}

/** @param isFile whether texts are paths: those of a key, or of the list that it has */
function resolveIn(value: unknown, folder: string, isFile = false): unknown {
  if (typeof value === "string") return isFile ? resolve(folder, value) : value;
  if (Array.isArray(value)) return value.map((item) => resolveIn(item, folder, isFile));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, resolveIn(item, folder, FILE_KEYS.has(key))]),
  );
}

/**
 * The problem of the text, without the parts of the file that YAML quotes after a colon, or in a
 * reference, which may be a secret.
 */
function withoutSource({ rule, message }: DocumentProblem): string {
  if (rule === "CONFIG_VARIABLE") {
    return message
      .replace(/^"\$\{.*" is not a reference/s, "there is a malformed reference")
      .replace(
        /; set it, or write \$\{.*$/s,
        "; set it, or, unless it is a secret, give it a default: ${NAME:-default}",
      );
  }
  if (message.startsWith("the file is empty"))
    return "the file is empty; write the configuration into it, or name another file";
  const [said = message] = message.split(/:| \(| \*/, 1);
  if (/^unresolved alias/.test(said)) return `${said}; text that starts with * must be quoted`;
  if (/^unresolved tag/.test(said)) return `${said}; text that starts with ! must be quoted`;
  if (/^unexpected flow-map-start/.test(said)) {
    return `${said}; inside { } and [ ] a reference must be in quotes, as in "\${VAR}"`;
  }
  if (/call stack/.test(said)) return "the file is nested too deeply";
  return said;
}
