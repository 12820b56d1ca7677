import { type DescFile, type DescService, toBinary } from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";

/**
 * The files of some services, with all their imports, indexed for requests of reflection clients.
 * Files are the compiled descriptors, so that custom options, such as the access policy, stay in
 * them.
 */
export class ReflectionIndex {
  readonly services: readonly string[];
  readonly #files = new Map<string, DescFile>();
  readonly #symbols = new Map<string, DescFile>();
  /** By extended message, by field number. */
  readonly #extensions = new Map<string, Map<number, DescFile>>();
  readonly #encoded = new Map<DescFile, Uint8Array>();

  constructor(services: readonly DescService[]) {
    this.services = services.map(({ typeName }) => typeName).sort();
    for (const { file } of services) this.#add(file);
  }

  /** The names of a message's extensions; undefined if no message has that name. */
  extensionNumbers(typeName: string): readonly number[] | undefined {
    const numbers = this.#extensions.get(typeName)?.keys();
    if (numbers !== undefined) return [...numbers].sort((left, right) => left - right);
    return this.#symbols.has(typeName) ? [] : undefined;
  }

  /** The file with a path, and its imports. */
  byPath(path: string, sent?: Set<DescFile>): readonly Uint8Array[] | undefined {
    return this.#withImports(this.#files.get(path), sent);
  }

  /** The file that declares a symbol, and its imports. */
  bySymbol(name: string, sent?: Set<DescFile>): readonly Uint8Array[] | undefined {
    return this.#withImports(this.#symbols.get(name), sent);
  }

  /** The file that declares an extension, and its imports. */
  byExtension(
    typeName: string,
    number: number,
    sent?: Set<DescFile>,
  ): readonly Uint8Array[] | undefined {
    return this.#withImports(this.#extensions.get(typeName)?.get(number), sent);
  }

  #add(file: DescFile): void {
    const path = file.proto.name;
    if (this.#files.has(path)) return;
    this.#files.set(path, file);
    for (const type of nestedTypes(file)) {
      this.#symbols.set(type.typeName, file);
      if (type.kind === "message") {
        for (const { name } of [...type.fields, ...type.oneofs]) {
          this.#symbols.set(`${type.typeName}.${name}`, file);
        }
        // The entries of maps are messages in the file only.
        for (const { name, field, options } of type.proto.nestedType) {
          if (options?.mapEntry !== true) continue;
          const entry = `${type.typeName}.${name}`;
          for (const symbol of [entry, ...field.map((each) => `${entry}.${each.name}`)]) {
            this.#symbols.set(symbol, file);
          }
        }
      } else if (type.kind === "enum") {
        // Enum values are in the scope that contains the enum, not in the enum.
        const scope = type.typeName.slice(0, type.typeName.lastIndexOf(".") + 1);
        for (const { name } of type.values) this.#symbols.set(scope + name, file);
      } else if (type.kind === "service") {
        for (const { name } of type.methods) this.#symbols.set(`${type.typeName}.${name}`, file);
      } else {
        const extendee = type.extendee.typeName;
        const extensions = this.#extensions.get(extendee) ?? new Map<number, DescFile>();
        this.#extensions.set(extendee, extensions.set(type.number, file));
      }
    }
    for (const imported of file.dependencies) this.#add(imported);
  }

  /**
   * The requested file, and those of its imports that were not sent before.
   *
   * @param sent the files that were sent, with all their imports; new ones are added
   */
  #withImports(
    file: DescFile | undefined,
    sent = new Set<DescFile>(),
  ): readonly Uint8Array[] | undefined {
    if (file === undefined) return undefined;
    if (sent.has(file)) return [this.#encode(file)];
    const files: DescFile[] = [];
    const collect = (each: DescFile): void => {
      if (sent.has(each)) return;
      sent.add(each);
      files.push(each);
      each.dependencies.forEach(collect);
    };
    collect(file);
    return files.map((each) => this.#encode(each));
  }

  #encode(file: DescFile): Uint8Array {
    let bytes = this.#encoded.get(file);
    if (bytes === undefined) {
      bytes = toBinary(FileDescriptorProtoSchema, file.proto);
      this.#encoded.set(file, bytes);
    }
    return bytes;
  }
}
