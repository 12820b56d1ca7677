/**
 * Bundles the programs and the libraries into `dist/`, with the types of the
 * libraries. A folder is made beside it and put in its place whole, so that
 * whoever runs what is there meets no half of it.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { type BuildOptions, build, type Plugin } from "esbuild";

const root = new URL("..", import.meta.url).pathname;

/**
 * protoplugin loads the TypeScript compiler at its start, to transpile output
 * to JavaScript. This package only asks it for TypeScript, so the compiler,
 * which takes most of a plugin's start-up, stays out of the bundle.
 */
const withoutTranspiler: Plugin = {
  name: "without-transpiler",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(typescript|@typescript\/vfs)$/ }, ({ path }) => {
      return { path, namespace: "without-transpiler" };
    });
    onLoad({ filter: /.*/, namespace: "without-transpiler" }, () => {
      return { contents: "module.exports = {};", loader: "js" };
    });
  },
};

const next = `dist-${process.pid}`;

const common: BuildOptions = {
  absWorkingDir: root,
  outdir: next,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20",
  legalComments: "none",
  logLevel: "warning",
  minifySyntax: true,
};

/** yaml and handlebars are CommonJS, and require modules of Node. */
const banner = {
  js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
};

/** buf starts the check plugin nine times a lint, so its entry is bare and loads the rest when it must. */
const withoutCompiler: Plugin = {
  name: "without-compiler",
  setup({ onResolve }) {
    onResolve({ filter: /\/check-plugin\.ts$/ }, () => {
      return { path: "./check-plugin.js", external: true };
    });
  },
};

await build({
  ...common,
  entryPoints: {
    "protoc-gen-svc-access": "src/plugin/protoc-main.ts",
    "check-plugin": "src/plugin/check-plugin.ts",
    "svc-access": "src/cli/main.ts",
    index: "src/index.ts",
  },
  splitting: true,
  chunkNames: "chunks/[name]-[hash]",
  plugins: [withoutTranspiler],
  banner,
});
await build({
  ...common,
  entryPoints: { "buf-plugin-svc-access": "src/plugin/check-main.ts" },
  plugins: [withoutCompiler],
});

/** Libraries of many small files, which take longer to find at each start than to run. No value of theirs crosses our API. */
const BUNDLED: ReadonlySet<string> = new Set(["cockatiel", "jose", "kysely", "prom-client", "zod"]);

/**
 * An older Node has no `node:sqlite`, and would say so before any of our modules could: imports are
 * linked before the first module is evaluated.
 */
const sqliteAtRunTime: Plugin = {
  name: "sqlite-at-run-time",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:sqlite$/ }, ({ path }) => ({ path, namespace: "run-time" }));
    onLoad({ filter: /.*/, namespace: "run-time" }, ({ path }) => {
      const names = "backup, constants, DatabaseSync, StatementSync";
      const loaded = `process.getBuiltinModule?.(${JSON.stringify(path)})`;
      return { contents: `export const { ${names} } = ${loaded} ?? {};`, loader: "js" };
    });
  },
};

/**
 * Where `node:http` is imported rather than required, Node makes all that it exports, and with it loads
 * a WebSocket and what that needs, which nobody asks for: 40 ms and 13 MB of each start.
 */
const httpRequired: Plugin = {
  name: "http-required",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:http$/ }, ({ path, kind }) => {
      return kind === "require-call" ? { path, external: true } : { path, namespace: "required" };
    });
    onLoad({ filter: /.*/, namespace: "required" }, ({ path }) => {
      const names = "Agent, METHODS, STATUS_CODES, createServer, request";
      return {
        contents: `export const { ${names} } = require(${JSON.stringify(path)});`,
        loader: "js",
      };
    });
  },
};

/** prom-client asks OpenTelemetry for exemplars, which our metrics have none of: a hundred files at each start. */
const withoutExemplars: Plugin = {
  name: "without-exemplars",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^@opentelemetry\/api$/ }, ({ path, importer }) =>
      importer.includes("/prom-client/") ? { path, namespace: "without-exemplars" } : undefined,
    );
    onLoad({ filter: /.*/, namespace: "without-exemplars" }, () => {
      return { contents: "module.exports = {};", loader: "js" };
    });
  },
};

const SERVICE_ENTRIES = {
  authz: "src/authz/index.ts",
  runtime: "src/runtime/index.ts",
  "runtime-registry": "src/runtime/registry/index.ts",
  testing: "src/testing/index.ts",
  "svc-access-operator": "src/operator/main.ts",
};
const { dependencies } = JSON.parse(readFileSync(`${root}package.json`, "utf8"));
// What runs in services: one build, so that its parts share their classes. What it depends on is
// installed beside it; what is only built with is bundled.
await build({
  ...common,
  entryPoints: {
    "node-version": "src/runtime/node-version.ts",
    ...Object.fromEntries(
      Object.entries(SERVICE_ENTRIES).map(([name, source]) => [`entries/${name}`, source]),
    ),
  },
  splitting: true,
  chunkNames: "chunks/[name]-[hash]",
  plugins: [sqliteAtRunTime, httpRequired, withoutExemplars],
  banner,
  external: Object.keys(dependencies)
    .filter((name) => !BUNDLED.has(name))
    .flatMap((name) => [name, `${name}/*`]),
});
// Modules are evaluated in the order of their imports, so an older Node is refused by name first.
for (const name of Object.keys(SERVICE_ENTRIES)) {
  const entry = `import "./node-version.js";\nexport * from "./entries/${name}.js";\n`;
  writeFileSync(`${root}${next}/${name}.js`, entry);
}
const types = ["-p", "tsconfig.declarations.json", "--outDir", `${next}/types`];
execFileSync(`${root}node_modules/.bin/tsc`, types, { cwd: root, stdio: "inherit" });

const old = `${root}${next}-old`;
if (existsSync(`${root}dist`)) renameSync(`${root}dist`, old);
renameSync(`${root}${next}`, `${root}dist`);
rmSync(old, { recursive: true, force: true });
