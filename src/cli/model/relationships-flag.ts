import { Option } from "commander";

/** The flag `--relationships`. */
export function relationshipsFlag(what: string): Option {
  return new Option(
    "--relationships <file>",
    `${what}, one a line, or a validation file (.yaml) that holds some`,
  );
}
