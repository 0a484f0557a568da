/**
 * Builds the package `wac` as it is published, after `tsc -b` and the build of the dashboard: modules with all that they
 * use, what is loaded lazily in files of its own; one file of declarations; the dashboard's pages; the licences of what
 * is in it and its bill of materials; and a manifest without dependencies. Why: `docs/decisions/0059-bundled-facade.md`.
 */
import { build, type Metafile } from "esbuild"
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { isBuiltin } from "node:module"
import { basename, isAbsolute, join } from "node:path"
import { rollup } from "rollup"
import { dts } from "rollup-plugin-dts"
import * as Materials from "../../packaging/Materials.ts"
import * as Notices from "../../packaging/Notices.ts"
import { folders, type Manifest, manifestOf, packedFolder, root } from "../../packaging/Published.ts"

const own = folders.get("wac")!
const effect = folders.get("@wac/effect")!
const to = packedFolder(own)

/** What a host may install for a feature. */
const optional: Readonly<Record<string, string>> = Object.fromEntries(
  [...folders.values()].map(manifestOf).flatMap(({ peerDependencies = {}, peerDependenciesMeta = {} }) =>
    Object.entries(peerDependencies).filter(([name]) => peerDependenciesMeta[name]?.optional === true)
  )
)

/**
 * Lines stay as they are: Node shows the line of an error that nobody catches. CommonJS asks for Node's modules by
 * `require`, which a module that a host's bundler makes of it lacks; Node itself gives them in every format.
 */
const bundle = () =>
  build({
    absWorkingDir: root,
    entryPoints: { wac: join(own, "src/index.ts") },
    outdir: join(to, "dist"),
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    target: "node22",
    conditions: ["source"],
    external: Object.keys(optional),
    banner: { js: "const require = process.getBuiltinModule;" },
    legalComments: "none",
    metafile: true,
    logLevel: "warning",
    // the check of Node's version, which `index.js` makes before anything else
    logOverride: { "ignored-bare-import": "silent" }
  })

/** Removes the files that no other loads: esbuild writes one for each `import()`, even of code that nothing uses. */
const removeUnused = ({ outputs }: Metafile): void => {
  const used = new Set<string>()
  const visit = (path: string): void => {
    if (used.has(path)) return
    used.add(path)
    for (const { external, path: imported } of outputs[path]!.imports) if (external !== true) visit(imported)
  }
  visit(Object.keys(outputs).find((path) => basename(path) === "wac.js")!)
  for (const path of Object.keys(outputs)) if (!used.has(path)) rmSync(join(root, path))
}

/** What the modules have others bring: Node, and what is optional. Fails on anything else. */
const checkImports = ({ outputs }: Metafile): void => {
  const others = Object.values(outputs).flatMap(({ imports }) => imports)
    .filter(({ external, path }) =>
      external === true && !isBuiltin(path) && !Object.keys(optional).some((name) => `${path}/`.startsWith(`${name}/`))
    )
  if (others.length > 0) throw new Error(`wac would need ${others.map(({ path }) => path).join(", ")}`)
}

/** What the module exports. */
const exportsOf = ({ outputs }: Metafile): ReadonlyArray<string> =>
  Object.values(outputs).find(({ entryPoint }) => entryPoint === "packages/wac/src/index.ts")!.exports

/** The check of Node's version is run before everything else, which an old Node may fail to load. */
const writeIndex = async (values: ReadonlyArray<string>): Promise<void> => {
  writeFileSync(
    join(to, "dist/index.js"),
    `import "./NodeVersion.js"\nexport { ${values.join(", ")} } from "./wac.js"\n`
  )
  await build({
    entryPoints: [join(effect, "src/NodeVersion.ts")],
    outdir: join(to, "dist"),
    format: "esm",
    // its manifest says that modules have no effects
    ignoreAnnotations: true
  })
}

/**
 * Declarations that end with the lists of what they export, with lists of ours: what the module exports is a value, and
 * the rest is types, also an enumeration that is only a type. Interfaces are exported where they are declared: only then
 * can a program extend them, as its templates do.
 */
const exporting = (declarations: string, values: ReadonlyArray<string>): string => {
  const lists = /^export (?:type )?\{ (.*) \};\n/gm
  const types = new Set([...declarations.matchAll(lists)].flatMap(([, list]) => list!.split(", ")))
  const missing = values.filter((name) => !types.delete(name))
  if (missing.length > 0) throw new Error(`the declarations of wac lack ${missing.join(", ")}`)
  const declared = declarations.replaceAll(lists, "").replaceAll(
    /^interface ([\w$]+)/gm,
    (declaration, name: string) => types.delete(name) ? `export ${declaration}` : declaration
  )
  return `${declared}export { ${values.join(", ")} };\nexport type { ${[...types].join(", ")} };\n`
}

const writeDeclarations = async (values: ReadonlyArray<string>): Promise<void> => {
  const built = await rollup({
    input: join(effect, "dist/promises.d.ts"),
    plugins: [dts()],
    // what is named only inside of our packages falls away with the declarations that name it
    external: (id) => !/^[./]/.test(id) && !isAbsolute(id)
  })
  const { output: [{ code, imports }] } = await built.generate({ format: "es" })
  await built.close()
  const others = imports.filter((name) => !isBuiltin(name))
  if (others.length > 0) throw new Error(`the declarations of wac name ${others.join(", ")}`)
  writeFileSync(join(to, "dist/index.d.ts"), exporting(code, values))
}

const manifest = (): Manifest => {
  const { dependencies: _, devDependencies: _dev, publishConfig: _to, scripts: _scripts, ...kept } = manifestOf(own)
  return {
    ...kept,
    exports: { ".": { types: "./dist/index.d.ts", default: "./dist/index.js" } },
    files: ["dist", "THIRD-PARTY-NOTICES.txt", Materials.file],
    peerDependencies: optional,
    peerDependenciesMeta: Object.fromEntries(Object.keys(optional).map((name) => [name, { optional: true }]))
  }
}

rmSync(to, { recursive: true, force: true })
mkdirSync(to, { recursive: true })
const { metafile } = await bundle()
checkImports(metafile)
removeUnused(metafile)
const values = exportsOf(metafile)
await writeIndex(values)
await writeDeclarations(values)
const dashboard = join(folders.get("@wac/http")!, "dist/dashboard")
cpSync(dashboard, join(to, "dist/dashboard"), {
  recursive: true,
  filter: (path) => basename(path) !== "sources"
})
writeFileSync(join(to, "package.json"), `${JSON.stringify(manifest(), undefined, 2)}\n`)
const [, ...inPages] = readFileSync(join(dashboard, "sources"), "utf8").trimEnd().split("\n")
const inside = [...new Set([...Notices.foldersOf(metafile), ...inPages.map((path) => join(root, path))])].sort()
writeFileSync(join(to, "THIRD-PARTY-NOTICES.txt"), Notices.textOf(inside))
Materials.write(to, Materials.of(manifestOf(own), "library", inside))
for (const file of ["README.md", "LICENSE"]) writeFileSync(join(to, file), readFileSync(join(own, file)))
