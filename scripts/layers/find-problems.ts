/** The files of `src`, each with the files that it imports; paths with `/`, from the root. */
export type Imports = ReadonlyMap<string, readonly string[]>;

/** The allowed dependencies between the folders of `src`. */
export interface LayerRules {
  /** The top folders, and which of them each may import. */
  readonly layers: Readonly<Record<string, readonly string[]>>;
  /** Generated files that import the runtime: a layer of their own, above the messages beside them. */
  readonly generated?: { readonly layer: string; readonly files: RegExp };
  /** The subfolders of a folder, in lines from the top: each imports only from the lines below its own. */
  readonly lines: Readonly<Record<string, readonly (readonly string[])[]>>;
  /** The maximum number of files in a folder. */
  readonly mostFiles: number;
  /** Folders that may have more files, as they are lists of similar files. */
  readonly listFolders: readonly string[];
}

const MOVE = "move what they share into a file or folder below them";

/** All violations of the rules, one message each. */
export function findProblems(imports: Imports, rules: LayerRules): string[] {
  return [
    ...wrongImports(imports, rules),
    ...importsUpwards(imports, rules),
    ...findTangles(imports, rules),
  ];
}

/** The cycles of files and of folders, and the folders that are too large. */
export function findTangles(
  imports: Imports,
  rules: Pick<LayerRules, "generated" | "mostFiles" | "listFolders">,
): string[] {
  return [
    ...cyclesOf(imports).map((files) => `${files.join(", ")} import each other: ${MOVE}`),
    ...cyclesOf(folderImports(imports, rules.generated)).map(
      (folders) => `the folders ${folders.join(", ")} import each other: ${MOVE}`,
    ),
    ...largeFolders(imports.keys(), rules),
  ];
}

function* wrongImports(imports: Imports, { layers, generated }: LayerRules): Iterable<string> {
  for (const [file, targets] of imports) {
    const from = layerOf(file, generated);
    if (from === undefined) continue;
    const allowed = layers[from];
    if (allowed === undefined) {
      yield `src/${from} is not in the list of layers: add it with the folders that it may import`;
      continue;
    }
    for (const target of targets) {
      const to = layerOf(target, generated);
      if (to === undefined || to === from || allowed.includes(to)) continue;
      yield `${file} imports ${target}: ${from} may not import ${to}`;
    }
  }
}

/** The imports that do not go down, in folders whose subfolders have lines. */
export function* importsUpwards(
  imports: Imports,
  { lines }: Pick<LayerRules, "lines">,
): Iterable<string> {
  for (const [folder, all] of Object.entries(lines)) {
    /** The line of a file, from the top; files directly in the folder are the top. */
    const depthOf = (file: string) => {
      const [first = "", ...rest] = file.slice(folder.length + 1).split("/");
      const depth = all.findIndex((line) => line.includes(first));
      return { name: `${folder}/${first}`, depth, isTop: rest.length === 0 };
    };
    for (const [file, targets] of imports) {
      if (!file.startsWith(`${folder}/`)) continue;
      const from = depthOf(file);
      if (from.isTop) continue;
      if (from.depth < 0) {
        yield `${from.name} is not in a line: add it to one`;
        continue;
      }
      for (const target of targets.filter((one) => one.startsWith(`${folder}/`))) {
        const to = depthOf(target);
        if (to.name === from.name || (!to.isTop && to.depth > from.depth)) continue;
        yield `${file} imports ${target}, which is not on a line below: move the code that it needs down`;
      }
    }
  }
}

/** The folder directly below `src`; undefined for files directly in `src`. */
function layerOf(file: string, generated: LayerRules["generated"]): string | undefined {
  if (generated?.files.test(file)) return generated.layer;
  const [, layer, ...rest] = file.split("/");
  return rest.length === 0 ? undefined : layer;
}

function parentOf(file: string): string {
  return file.slice(0, file.lastIndexOf("/"));
}

function folderImports(imports: Imports, generated: LayerRules["generated"]): Imports {
  const folderOf = (file: string) =>
    generated?.files.test(file) ? `${parentOf(file)} (${generated.layer})` : parentOf(file);
  const folders = new Map<string, Set<string>>();
  for (const [file, targets] of imports) {
    const from = folderOf(file);
    const known = folders.get(from) ?? new Set();
    folders.set(from, known);
    for (const target of targets) if (folderOf(target) !== from) known.add(folderOf(target));
  }
  return new Map([...folders].map(([folder, targets]) => [folder, [...targets]]));
}

/** The folders that have more files than the limit. */
export function* largeFolders(
  files: Iterable<string>,
  { mostFiles, listFolders }: Pick<LayerRules, "mostFiles" | "listFolders">,
): Iterable<string> {
  const counts = new Map<string, number>();
  for (const file of files) {
    counts.set(parentOf(file), (counts.get(parentOf(file)) ?? 0) + 1);
  }
  for (const [folder, count] of counts) {
    if (count <= mostFiles || listFolders.includes(folder)) continue;
    yield `${folder} has ${count} files; the limit is ${mostFiles}: divide it`;
  }
}

/** The strongly connected components of more than one node, or of one that imports itself (Tarjan). */
function cyclesOf(graph: Imports): string[][] {
  const numbers = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const visit = (node: string): number => {
    const number = numbers.size;
    numbers.set(node, number);
    let low = number;
    stack.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!numbers.has(next)) low = Math.min(low, visit(next));
      else if (stack.includes(next)) low = Math.min(low, numbers.get(next) ?? low);
    }
    if (low !== number) return low;
    const members = stack.splice(stack.indexOf(node));
    if (members.length > 1 || graph.get(node)?.includes(node)) found.push(members.sort());
    return low;
  };
  for (const node of graph.keys()) if (!numbers.has(node)) visit(node);
  return found;
}
