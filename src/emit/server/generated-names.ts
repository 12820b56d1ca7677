import type { DescFile, DescMessage, DescService } from "@bufbuild/protobuf";
import { wktPublicImportPaths } from "@bufbuild/protobuf/codegenv2";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { type GeneratedFile, type ImportSymbol, safeIdentifier } from "@bufbuild/protoplugin";

/** The names that protoc-gen-es gives the types of one file. */
interface FileNames {
  readonly shapes: ReadonlyMap<object, string>;
  readonly descriptors: ReadonlyMap<object, string>;
}

/**
 * The names of the code that protoc-gen-es generates, as import symbols.
 *
 * protoplugin has these names, too, but computes all names of a file again for each
 * symbol, which takes quadratic time in the number of types. A test checks that the
 * names are the same.
 */
export class GeneratedNames {
  readonly #files = new Map<DescFile, FileNames>();
  readonly #filesToGenerate: ReadonlySet<DescFile>;

  constructor(filesToGenerate: readonly DescFile[]) {
    this.#filesToGenerate = new Set(filesToGenerate);
  }

  /** The type of a message. */
  shape(file: GeneratedFile, message: DescMessage): ImportSymbol {
    const name = this.#namesOf(message.file).shapes.get(message);
    return file.import(known(name, message), this.#moduleOf(message.file), true);
  }

  /** The descriptor of a message, used as a type. */
  schema(file: GeneratedFile, message: DescMessage): ImportSymbol {
    const name = this.#namesOf(message.file).descriptors.get(message);
    return file.import(known(name, message), this.#moduleOf(message.file), true);
  }

  /** The descriptor of a service. */
  service(file: GeneratedFile, service: DescService): ImportSymbol {
    const name = this.#namesOf(service.file).descriptors.get(service);
    return file.import(known(name, service), this.#moduleOf(service.file));
  }

  #moduleOf(file: DescFile): string {
    const wellKnown = (wktPublicImportPaths as Readonly<Record<string, string>>)[file.proto.name];
    if (wellKnown !== undefined && !this.#filesToGenerate.has(file)) return wellKnown;
    return `./${file.name}_pb.js`;
  }

  #namesOf(file: DescFile): FileNames {
    let names = this.#files.get(file);
    if (names === undefined) {
      names = namesOf(file);
      this.#files.set(file, names);
    }
    return names;
  }
}

function known(name: string | undefined, type: { typeName: string }): string {
  if (name === undefined) throw new Error(`${type.typeName} has no generated name`);
  return name;
}

/** Types come first, then descriptors; a duplicate name gets a `$`, then `$1` and so on. */
function namesOf(file: DescFile): FileNames {
  const taken = new Set<string>();
  const take = (ideal: string) => {
    let name = safeIdentifier(ideal);
    for (let attempt = 0; taken.has(name); attempt++) {
      name = safeIdentifier(`${ideal}$${attempt === 0 ? "" : attempt}`);
    }
    taken.add(name);
    return name;
  };
  const types = [...nestedTypes(file)];
  const shapes = new Map<object, string>();
  for (const type of types) {
    if (type.kind === "message" || type.kind === "enum") shapes.set(type, take(identifier(type)));
  }
  taken.add(`file_${file.name.replace(/[^a-zA-Z0-9_]+/g, "_")}`);
  const descriptors = new Map<object, string>();
  for (const type of types) {
    const suffix = type.kind === "message" || type.kind === "enum" ? "Schema" : "";
    descriptors.set(type, take(identifier(type) + suffix));
  }
  return { shapes, descriptors };
}

/** The name without its package, the parts joined with underscores. */
function identifier(type: { readonly typeName: string; readonly file: DescFile }): string {
  const { package: packageName } = type.file.proto;
  const name = packageName === "" ? type.typeName : type.typeName.slice(packageName.length + 1);
  return name.replaceAll(".", "_");
}
