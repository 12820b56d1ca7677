import { existsSync, readFileSync } from "node:fs";

/** The `tsconfig.json` of code in these folders, which Node.js runs directly. */
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

/** The options that a `tsconfig.json` lacks for imports that end in `.ts`; empty if it has them. */
export function tsconfigLacks(path: string): string {
  if (!existsSync(path)) return "";
  const text = readFileSync(path, "utf8");
  if (/"(?:allowImportingTsExtensions|rewriteRelativeImportExtensions)"\s*:\s*true/.test(text)) {
    return "";
  }
  return `  "compilerOptions": {
    "rewriteRelativeImportExtensions": true
  }

The imports of generated code end in .ts, so that Node.js runs it directly. With import_extension=js
for both plugins in buf.gen.yaml, they end in .js, and tsc must compile the code first.`;
}
