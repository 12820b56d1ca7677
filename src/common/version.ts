/** The version of this package, as generated files and plugins report it. */
export const version = "0.1.0";
