import { parseAllDocuments } from "yaml";
import type { Resource } from "../../../src/emit/gateway/resource.ts";
import type { OutputFile } from "../../../src/emit/output-file.ts";

/** A document of an emitted file, loosely typed as tests read it. */
export type Document = Omit<Resource, "spec"> & { readonly file: string; readonly spec: any };

/** The documents of all files, in order. */
export function documentsOf(files: readonly OutputFile[]): Document[] {
  return files.flatMap(({ name, content }) =>
    parseAllDocuments(content, { version: "1.1" }).map((document) => {
      if (document.errors.length > 0) throw document.errors[0];
      return { ...(document.toJS() as Document), file: name };
    }),
  );
}

/** The documents of one kind. */
export function ofKind(documents: readonly Document[], kind: string): Document[] {
  return documents.filter((document) => document.kind === kind);
}
