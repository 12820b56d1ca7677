import type { Compilable, CompiledQuery, Kysely } from "kysely";
import type { Database } from "../database.ts";

/**
 * A query that was compiled once. Made by `prepareRead` of a database.
 *
 * @typeParam Values - its values, by name
 * @typeParam Row - what it selects
 */
export interface PreparedRead<Values, Row> {
  /**
   * The first row, which is read-only; undefined if there is none. Limit a query that may have many, as
   * PostgreSQL sends all of them. With SQLite a row that was read before is not read again as long as
   * nothing stored has changed, by whichever program: do not select from a view that calls functions
   * such as those of the time.
   *
   * @throws as statements of `kysely`
   */
  first(values: Values): Promise<Row | undefined>;
  /**
   * All rows.
   *
   * @throws as statements of `kysely`
   */
  all(values: Values): Promise<readonly Row[]>;
}

/**
 * Builds a query to prepare. Each of its values is one SQL value: not a list, and nothing that the
 * query is built by.
 */
export type BuildRead<Tables, Values, Row> = (
  kysely: Kysely<Tables>,
  values: Values,
) => Compilable<Row>;

/** Stands for a value while the query is built. */
class Placeholder {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  /** The query would have the text of the placeholder instead of the value. */
  [Symbol.toPrimitive](): never {
    throw new TypeError(
      `the value ${this.name} of a prepared read is not known while it is built: only pass it to the query`,
    );
  }
}

/** A query that was compiled, over its database. */
export class CompiledRead<Tables, Values extends object, Row> implements PreparedRead<Values, Row> {
  readonly #database: Database<Tables>;
  readonly #query: CompiledQuery<Row>;
  readonly #assertUsable: () => void;

  /**
   * @param assertUsable throws if statements are not allowed now
   * @throws TypeError for what is not a query, or does not name its columns
   */
  constructor(
    database: Database<Tables>,
    build: BuildRead<Tables, Values, Row>,
    assertUsable: () => void,
  ) {
    this.#database = database;
    this.#assertUsable = assertUsable;
    const values = new Proxy({} as Values, {
      get: (_, name) => new Placeholder(String(name)),
    });
    this.#query = build(database.kysely, values).compile();
    assertReads(this.#query);
  }

  first(values: Values): Promise<Row | undefined> {
    return new Promise((resolve, reject) => {
      this.#read(values, true, (rows) => resolve(rows[0]), reject);
    });
  }

  all(values: Values): Promise<readonly Row[]> {
    return new Promise((resolve, reject) => {
      this.#read(values, false, resolve, reject);
    });
  }

  /** With callbacks: a read costs little more than a promise, and each run has one, not three. */
  #read(
    values: Values,
    isFirst: boolean,
    found: (rows: readonly Row[]) => void,
    failed: (error: unknown) => void,
  ): void {
    const parameters = this.#parameters(values);
    const alone = () => void this.#alone(parameters).then(found, failed);
    if (this.#database.read === undefined) return alone();
    this.#database.read({
      query: this.#query,
      parameters,
      isFirst,
      resolve: (rows) => (rows === undefined ? alone() : found(rows as readonly Row[])),
      reject: failed,
    });
  }

  #parameters(values: Values): readonly unknown[] {
    this.#assertUsable();
    return this.#query.parameters.map((parameter) =>
      parameter instanceof Placeholder ? values[parameter.name as keyof Values] : parameter,
    );
  }

  async #alone(parameters: readonly unknown[]): Promise<readonly Row[]> {
    const query: CompiledQuery<Row> = { ...this.#query, parameters };
    return (await this.#database.kysely.executeQuery(query)).rows;
  }
}

/** A version of the program that is newer may add columns while this one runs. */
function assertReads({ query }: CompiledQuery): void {
  if (query.kind !== "SelectQueryNode") {
    throw new TypeError("a prepared read is a query made by selectFrom");
  }
  const { selections = [] } = query;
  const isNamed = selections.every(({ selection }) => {
    if (selection.kind === "SelectAllNode") return false;
    return selection.kind !== "ReferenceNode" || selection.column.kind !== "SelectAllNode";
  });
  if (!isNamed || selections.length === 0) {
    throw new TypeError("a prepared read names its columns: use select instead of selectAll");
  }
}
