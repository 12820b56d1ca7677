import { writeFileSync } from "node:fs";
import { describe, expect, test, vi } from "vitest";
import { DatabaseError } from "../../../src/database/database-error.ts";
import { postgresAddress } from "../../../src/database/postgres/postgres-address.ts";
import {
  postgresMachineProblems,
  postgresUrlProblems,
} from "../../../src/database/postgres/postgres-url.ts";
import { Workspace } from "../../support/workspace.ts";

const KNOWN =
  "nown parameters are application_name, client_encoding, connect_timeout, host, idle_in_transaction_session_timeout, lock_timeout, options, password, port, query_timeout, ssl, sslcert, sslkey, sslmode, sslnegotiation, sslrootcert, statement_timeout, user, uselibpqcompat";
const MODES = "disable, no-verify, prefer, require, verify-ca, verify-full";
const MS = "from 1 to 2147483647";

describe("parameters that would be ignored, or do not fit together, are refused", () => {
  test.each<[string, string]>([
    ["sslmod=verify-full", `has the unknown parameter sslmod; did you mean "sslmode"? K${KNOWN}`],
    ["SSLMODE=verify-full", `has the unknown parameter SSLMODE; did you mean "sslmode"? K${KNOWN}`],
    ["ssl-mode=disable", `has the unknown parameter ssl-mode; did you mean "sslmode"? K${KNOWN}`],
    [
      "target_session_attrs=read-write",
      `has the parameter target_session_attrs, which the driver does not have; remove it; k${KNOWN}`,
    ],
    ["dbname=x", "has the unknown parameter dbname; write the database as the path of the URL"],
    ["__proto__=x", `has an unknown parameter; k${KNOWN}`],
    ["=x", `has an unknown parameter; k${KNOWN}`],
    [
      "sslmode=verify-full&sslmode=disable",
      "has the parameter sslmode more than once; keep one of them",
    ],
    [
      "sslmode=disable&ssl%6Dode=disable",
      "has the parameter sslmode more than once; keep one of them",
    ],
    ["sslmode=bogus", `has the parameter sslmode, which must be one of ${MODES}`],
    [
      "sslmode=verify-ful",
      `has the parameter sslmode, which must be one of ${MODES}; did you mean "verify-full"?`,
    ],
    ["sslmode=", `has the parameter sslmode, which must be one of ${MODES}`],
    ["sslmode", `has the parameter sslmode, which must be one of ${MODES}`],
    ["sslmode=allow", `has the parameter sslmode, which must be one of ${MODES}`],
    ["ssl=false", "has the parameter ssl, which must be one of true, 1, 0, no-verify"],
    ["sslrootcert=", "has the parameter sslrootcert, which must not be empty"],
    [
      "connect_timeout=abc",
      "has the parameter connect_timeout, which must be whole seconds from 1 to 2147483",
    ],
    [
      "connect_timeout=0",
      "has the parameter connect_timeout, which must be whole seconds from 1 to 2147483",
    ],
    [
      "query_timeout=abc",
      `has the parameter query_timeout, which must be whole milliseconds ${MS}`,
    ],
    ["query_timeout=0", `has the parameter query_timeout, which must be whole milliseconds ${MS}`],
    [
      "query_timeout=3e4",
      `has the parameter query_timeout, which must be whole milliseconds ${MS}`,
    ],
    [
      "query_timeout=2147483648",
      `has the parameter query_timeout, which must be whole milliseconds ${MS}`,
    ],
    [
      "statement_timeout=30s",
      "has the parameter statement_timeout, which must be whole milliseconds from 0 to 2147483647",
    ],
    ["port=x", "has the parameter port, which must be a number from 1 to 65535"],
    ["uselibpqcompat=yes", "has the parameter uselibpqcompat, which must be one of true, false"],
    ["ssl=0&sslmode=require", "has ssl, which contradicts sslmode; remove ssl"],
    ["ssl=true&sslmode=disable", "has ssl, which contradicts sslmode; remove ssl"],
    ["ssl=no-verify&sslrootcert=/ca", "has ssl, which contradicts sslrootcert; remove ssl"],
    [
      "sslmode=no-verify&sslrootcert=/ca",
      "has sslrootcert, which sslmode=no-verify ignores; write sslmode=verify-full, or remove what is ignored",
    ],
    [
      "sslmode=disable&sslcert=/c&sslkey=/k",
      "has sslcert, sslkey, which sslmode=disable ignores; write sslmode=verify-full, or remove what is ignored",
    ],
    ["sslcert=/c", "has sslcert without sslkey; give the files of both"],
    ["sslkey=/k", "has sslkey without sslcert; give the files of both"],
    [
      "sslmode=disable&sslnegotiation=direct",
      "has sslnegotiation=direct, which needs TLS; write sslmode=verify-full",
    ],
    [
      "uselibpqcompat=true&sslmode=no-verify",
      "has sslmode=no-verify, which uselibpqcompat does not have; write sslmode=require, or remove uselibpqcompat",
    ],
    [
      "uselibpqcompat=true&sslmode=verify-ca",
      "has sslmode=verify-ca, which needs the file of a CA in sslrootcert with uselibpqcompat; name it, or write sslmode=verify-full",
    ],
    [
      "sslrootcert=/nope.pem",
      'names the file "/nope.pem" in sslrootcert, which does not exist; correct the path',
    ],
    [
      "sslrootcert=nope.pem",
      `names the file "nope.pem" in sslrootcert, which does not exist in ${process.cwd()}; correct the path`,
    ],
    [
      "sslrootcert=/",
      'names the file "/" in sslrootcert, which cannot be read (EISDIR); name a file',
    ],
  ])("?%s", (query, problem) => {
    const url = `postgres://u:s3cret@h/db?${query}`;
    expect([...postgresUrlProblems(url), ...postgresMachineProblems(url)]).toEqual([problem]);
    expect(refusalOf(url)).toBe(`the URL of the PostgreSQL database ${problem}`);
  });

  test("all at once", () => {
    expect(postgresUrlProblems("postgres://h/db?sslmode=x&port=y")).toHaveLength(2);
  });

  test.each(["requre", "allow", "REQUIRE", " require"])("PGSSLMODE=%s", (mode) => {
    vi.stubEnv("PGSSLMODE", mode);
    try {
      expect(postgresMachineProblems("postgres://h/db?connect_timeout=2")).toEqual([
        expect.stringContaining(
          `has no sslmode, and PGSSLMODE=${JSON.stringify(mode)} in the environment must be one of ${MODES}`,
        ),
      ]);
      const decided = [
        "postgres://h/db?sslmode=disable",
        "postgres://h/db?ssl=true",
        "postgres://h/db?sslnegotiation=direct",
        "postgres:///db?host=/run/postgresql",
        "socket:/run/postgresql?db=db",
        "/run/postgresql db",
        "postgres://%2Frun%2Fpostgresql/db",
        "postgres://u:p%40@%2frun%2fpostgresql:5433/db?connect_timeout=2",
      ];
      for (const url of decided) expect(postgresMachineProblems(url), url).toEqual([]);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  test.each([
    ["postgres://u:%2Fp@h/db", {}],
    ["postgres://%2Frun@h/db", {}],
    ["postgres://h/%2Frun", {}],
    ["postgres://%2Frun/db?host=h", {}],
    ["postgres:///db", {}],
    ["postgres:///db", { PGHOST: "h" }],
    ["postgres://h/db", { PGHOST: "/run/postgresql" }],
  ])("a misspelt PGSSLMODE counts for %s with %j, which is not a socket", (url, env) => {
    vi.stubEnv("PGHOST", undefined);
    for (const [name, value] of Object.entries({ PGSSLMODE: "requre", ...env })) {
      vi.stubEnv(name, value);
    }
    try {
      expect(postgresMachineProblems(url)).toHaveLength(1);
      vi.stubEnv("PGHOST", "/run/postgresql");
      expect(postgresMachineProblems("postgres:///db")).toEqual([]);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  test("a misspelt PGSSLMODE counts for the settings of the driver", () => {
    vi.stubEnv("PGSSLMODE", "requre");
    try {
      for (const settings of [
        { host: "h", database: "db" },
        { host: "h", ssl: undefined },
      ]) {
        expect(() => postgresAddress(settings)).toThrow(
          `the connection of the PostgreSQL database has no ssl, and PGSSLMODE="requre" in the environment must be one of ${MODES}`,
        );
      }
      for (const settings of [
        { host: "h", ssl: false },
        { host: "h", ssl: true },
        { host: "h", ssl: { rejectUnauthorized: true } },
        { host: "/run/postgresql" },
      ]) {
        expect(postgresAddress({ database: "db", ...settings }).place).toContain("db at");
      }
    } finally {
      vi.unstubAllEnvs();
    }
  });

  test.each(["", "disable", "require", "verify-full"])("PGSSLMODE=%s is a mode", (mode) => {
    vi.stubEnv("PGSSLMODE", mode);
    try {
      expect(postgresMachineProblems("postgres://h/db")).toEqual([]);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  test("a file without a certificate, and files that are not a pair", () => {
    using workspace = new Workspace({});
    const file = `${workspace.folder}/ca.pem`;
    writeFileSync(file, "");
    expect(postgresMachineProblems(`postgres://h/db?sslrootcert=${file}`)).toEqual([
      "names a file in sslrootcert that holds no certificate; write the CA into it, as PEM",
    ]);
    expect(postgresMachineProblems(`postgres://h/db?sslcert=${file}&sslkey=${file}`)).toEqual([
      expect.stringMatching(/^names files in sslcert and sslkey that are not a certificate/),
    ]);
  });
});

test.each([
  "postgres://u:12?s3cret@h/db",
  "postgres://u:12?x=1&s3cret@h/db",
  "postgres://u:12?x=s3cret@h/db",
  "postgres://h/db?password=a&s3cret",
  "postgres://h/db?password=a&s3cret=",
  "postgres://h/db?password=a#s3cret",
  "postgres://h/db?password=a&password=s3cret",
  "postgres://h/db?sslmode=s3cret",
  "postgres://h/db?query_timeout=s3cret",
  "postgres://h/db?user=s3cret&a=b",
])("the refusal of %s does not quote it", (url) => {
  expect(refusalOf(url)).toMatch(/^the URL of the PostgreSQL database /);
  expect(refusalOf(url)).not.toMatch(/s3cret/);
});

test.each([
  "postgres://u:p@h/db",
  "postgres:///db?host=/run/postgresql",
  "postgres://u@h/db?host=%2Frun%2Fpostgresql&port=5433",
  "postgres://h/db?user=a@b&password=c@d&application_name=&options=-c%20geqo%3Doff",
  "postgres://h/db?connect_timeout=3&query_timeout=600000&statement_timeout=0&lock_timeout=1",
  "postgres://h/db?ssl=true&sslmode=verify-full",
  "postgres://h/db?sslmode=no-verify&",
  "postgres://h/db?uselibpqcompat=true&sslmode=require",
  "socket:/run/postgresql?db=notes&encoding=utf8",
  "/run/postgresql notes",
])("%s is taken", (url) => {
  expect(refusalOf(url)).toBe("");
});

test.each([
  ["disable", "sslmode=disable"],
  ["no-verify", "sslmode=no-verify"],
  ["prefer", "sslmode=verify-full"],
  ["require", "sslmode=verify-full"],
  ["verify-ca", "sslmode=verify-full"],
  ["verify-full", "sslmode=verify-full"],
  ["require&uselibpqcompat=true", "sslmode=require&uselibpqcompat=true"],
])("sslmode=%s is given to the driver as %s, which then prints no warning", (mode, query) => {
  const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
  try {
    const { config } = postgresAddress(`postgres://h/db?user=a&sslmode=${mode}`);
    expect(config.connectionString).toBe(`postgres://h/db?user=a&${query}`);
    expect(warn).not.toHaveBeenCalled();
  } finally {
    warn.mockRestore();
  }
});

test("connect_timeout is in seconds", () => {
  const { config } = postgresAddress("postgres://h/db?connect_timeout=3");
  expect(config.connectionTimeoutMillis).toBe(3000);
  expect(postgresAddress("postgres://h/db").config.connectionTimeoutMillis).toBe(5000);
});

/** The message that a URL is refused with; empty if it is taken. */
function refusalOf(url: string): string {
  try {
    postgresAddress(url);
    return "";
  } catch (error) {
    expect(error).toBeInstanceOf(DatabaseError);
    return (error as DatabaseError).message;
  }
}
