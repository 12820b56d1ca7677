import { existsSync, readFileSync } from "node:fs";

/** The `tsconfig.json` of code that Node runs as it is, in these folders. */
export function tsconfig(folders: readonly string[]): string {
  return `{
  "compilerOptions": {
    "target": "ES2023",
    "module": "NodeNext",
    "moduleResolution": "NodeNext",
    "types": ["node"],
    "strict": true,
    "skipLibCheck": true,
    "verbatimModuleSyntax": true,
    "allowImportingTsExtensions": true,
    "erasableSyntaxOnly": true,
    "noEmit": true
  },
  "include": [${folders.map((folder) => JSON.stringify(folder)).join(", ")}]
}
`;
}

/** What a `tsconfig.json` lacks for imports that end in `.ts`; nothing where it lacks nothing. */
export function tsconfigLacks(path: string): string {
  if (!existsSync(path)) return "";
  const text = readFileSync(path, "utf8");
  if (/"(?:allowImportingTsExtensions|rewriteRelativeImportExtensions)"\s*:\s*true/.test(text)) {
    return "";
  }
  return `  "compilerOptions": {
    "rewriteRelativeImportExtensions": true
  }

The imports of generated code end in .ts, as Node wants them. Where import_extension=js is written in
buf.gen.yaml instead, twice, they end in .js, and tsc must compile them before Node runs them.`;
}
