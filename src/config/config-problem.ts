/** Something that is wrong with a configuration whose keys and types are right. */
export interface ConfigProblem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}
