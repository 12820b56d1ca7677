/**
 * Bundles the programs and the libraries into `dist/`, with the types of the
 * libraries. It builds a new folder and then replaces `dist/`, so that running
 * programs never see a partial build. With `--if-changed`, it does nothing if `dist/` is of the present sources.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { type BuildOptions, build, type Metafile, type Plugin } from "esbuild";
import { rolldown } from "rolldown";
import { dts } from "rolldown-plugin-dts";
import { readEntries } from "./entries.ts";
import { isBuilt, noteSources, sourceDigest } from "./source-digest.ts";

const root = new URL("..", import.meta.url).pathname;
// Sources that change meanwhile are built by the next run.
const sources = sourceDigest(root);
if (process.argv.includes("--if-changed") && isBuilt(root)) process.exit(0);

/**
 * protoplugin loads the TypeScript compiler at start, to transpile output to
 * JavaScript. This package only generates TypeScript, so the compiler, which
 * takes most of a plugin's start time, is not bundled.
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

/** The libraries that users import, by the name of the file in `dist`. */
const LIBRARIES: Readonly<Record<string, string>> = Object.fromEntries(
  readEntries(root).map(({ file, source }) => [file, source]),
);

const common = {
  absWorkingDir: root,
  outdir: next,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20",
  legalComments: "none",
  logLevel: "warning",
  minifySyntax: true,
  sourcemap: true,
  metafile: true,
} as const satisfies BuildOptions;

/** yaml and handlebars are CommonJS and require Node.js modules. */
const banner = {
  js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
};

const compiler = await build({
  ...common,
  entryPoints: {
    "protoc-gen-svc-access": "src/plugin/protoc-main.ts",
    "svc-access": "src/cli/main.ts",
    index: "src/index.ts",
  },
  splitting: true,
  chunkNames: "chunks/[name]-[hash]",
  plugins: [withoutTranspiler],
  banner,
});
// The check plugin starts for every lint, so it is a single script, which its entry runs with cached code.
const { metafile } = await build({
  ...common,
  format: "cjs",
  minify: true,
  entryPoints: { "check-plugin": "src/plugin/check-plugin.ts" },
  entryNames: "chunks/[name]-[hash]",
  metafile: true,
  banner: { js: "(function (exports, require, module) {" },
  footer: { js: "})" },
});
const checkPlugin = Object.keys(metafile.outputs).find((name) => name.endsWith(".js")) ?? "";
await build({
  ...common,
  format: "cjs",
  entryPoints: { check: "src/plugin/check-start.ts" },
  outExtension: { ".js": ".cjs" },
  define: {
    CHECK_PLUGIN: JSON.stringify(`chunks/${basename(checkPlugin)}`),
    CHECK_PLUGIN_HASH: JSON.stringify(hashOf(join(root, checkPlugin))),
  },
});
await build({
  ...common,
  entryPoints: { "buf-plugin-svc-access": "src/plugin/check-main.ts" },
});

/**
 * Older versions of Node.js have no `node:sqlite`, and would fail before any of our modules could
 * report it: imports are linked before the first module is evaluated.
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
 * An import of `node:http`, unlike a `require`, evaluates all its exports, which also loads an unused
 * WebSocket client: 40 ms and 13 MB at each start.
 */
const httpRequired: Plugin = {
  name: "http-required",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:http$/ }, ({ path, kind }) => {
      return kind === "require-call" ? { path, external: true } : { path, namespace: "required" };
    });
    onLoad({ filter: /.*/, namespace: "required" }, ({ path }) => {
      const names = "Agent, IncomingMessage, METHODS, STATUS_CODES, createServer, request";
      return {
        contents: `export const { ${names} } = require(${JSON.stringify(path)});`,
        loader: "js",
      };
    });
  },
};

/** grpc-js loads protos at run time for its built-in services, which clients do not use. */
const withoutProtoLoader: Plugin = {
  name: "without-proto-loader",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^@grpc\/proto-loader$/ }, ({ path }) => {
      return { path, namespace: "without-proto-loader" };
    });
    onLoad({ filter: /.*/, namespace: "without-proto-loader" }, () => {
      return { contents: "module.exports = {};", loader: "js" };
    });
  },
};

/** prom-client loads OpenTelemetry for exemplars, which our metrics do not use: a hundred files at each start. */
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

const { index: _compiler, ...SERVICE_LIBRARIES } = LIBRARIES;
const SERVICE_ENTRIES = {
  ...SERVICE_LIBRARIES,
  "svc-access-operator": "src/operator/main.ts",
};
const { dependencies, peerDependencies } = JSON.parse(
  readFileSync(`${root}package.json`, "utf8"),
) as Record<"dependencies" | "peerDependencies", object>;
// The entries for services are one build, so that they share their classes. Packages whose objects
// users share (messages, traces) or that users patch are dependencies, and drivers are optional.
// All other packages are bundled: many small files take longer to find than to run.
const service = await build({
  ...common,
  entryPoints: {
    "node-version": "src/runtime/node-version.ts",
    ...Object.fromEntries(
      Object.entries(SERVICE_ENTRIES).map(([name, source]) => [`entries/${name}`, source]),
    ),
  },
  splitting: true,
  chunkNames: "chunks/[name]-[hash]",
  plugins: [sqliteAtRunTime, httpRequired, withoutExemplars, withoutProtoLoader],
  banner,
  external: Object.keys({ ...dependencies, ...peerDependencies }).flatMap((name) => [
    name,
    `${name}/*`,
  ]),
});
// Modules are evaluated in import order, so the version of Node.js is checked first.
for (const name of Object.keys(SERVICE_ENTRIES)) {
  const entry = `import "./node-version.js";\nexport * from "./entries/${name}.js";\n`;
  writeFileSync(`${root}${next}/${name}.js`, entry);
}
await bundleTypes();
writeLicences([compiler, service]);
keepOwnSources(`${root}${next}`);
noteSources(`${root}${next}`, sources);

const old = `${root}${next}-old`;
if (existsSync(`${root}dist`)) renameSync(`${root}dist`, old);
renameSync(`${root}${next}`, `${root}dist`);
rmSync(old, { recursive: true, force: true });

/**
 * Bundles the types of the libraries, without internal ones, so that users need no packages that
 * are bundled or optional. Those of kysely are in a file of their own, which only `database` needs.
 */
async function bundleTypes(): Promise<void> {
  const args = ["-p", "tsconfig.declarations.json", "--outDir", `${next}/declarations`];
  execFileSync(`${root}node_modules/.bin/tsc`, args, { cwd: root, stdio: "inherit" });
  const bundle = await rolldown({
    cwd: `${root}${next}`,
    input: Object.fromEntries(
      Object.entries(LIBRARIES).map(([name, source]) => [
        name,
        source.replace(/^src\/(.*)\.ts$/, "declarations/$1.d.ts"),
      ]),
    ),
    resolve: { alias: { kysely: `${root}node_modules/kysely/dist/index.d.ts` } },
    plugins: [dts({ dtsInput: true })],
    external: (name) => /^[^./]/.test(name) && name !== "kysely",
    treeshake: { moduleSideEffects: false },
  });
  await bundle.write({
    dir: "types",
    entryFileNames: "[name].d.ts",
    chunkFileNames: "shared/[name].d.ts",
    codeSplitting: { groups: [{ name: "kysely", test: /[\\/]kysely[\\/]/ }] },
  });
  rmSync(`${root}${next}/declarations`, { recursive: true });
}

function hashOf(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex").slice(0, 32);
}

/** The licences of bundled packages must be distributed with them. */
function writeLicences(builds: readonly { readonly metafile: Metafile }[]): void {
  const inputs = builds.flatMap(({ metafile }) => Object.keys(metafile.inputs));
  const folders = new Set(
    inputs.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path) ?? []),
  );
  const texts = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(
      readFileSync(join(root, folder, "package.json"), "utf8"),
    );
    const file = readdirSync(join(root, folder)).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file === undefined ? "" : readFileSync(join(root, folder, file), "utf8").trim();
    return `${name} ${version}: ${license}\n\n${text}\n`;
  });
  writeFileSync(`${root}${next}/THIRD-PARTY-LICENSES.txt`, texts.join(`\n${"-".repeat(80)}\n\n`));
}

/** Removes the sources of other packages from the source maps; their names suffice. */
function keepOwnSources(folder: string): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".js.map")) continue;
    const path = join(folder, name);
    const map: { sources: string[]; sourcesContent: (string | null)[] } = JSON.parse(
      readFileSync(path, "utf8"),
    );
    map.sourcesContent = map.sourcesContent.map((content, index) =>
      map.sources[index]?.includes("node_modules/") ? null : content,
    );
    writeFileSync(path, JSON.stringify(map));
  }
}
