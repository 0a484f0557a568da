/**
 * Builds the package that is the server, `dist`: the program in a few files with what it uses of its libraries, the
 * dashboard, and a manifest with what must be installed besides. Why it is bundled: `docs/decisions/0028-wac.md`.
 */
import { build, type Metafile } from "esbuild"
import { execFileSync } from "node:child_process"
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { pathToFileURL } from "node:url"
import * as Materials from "../../packaging/Materials.ts"
import * as Notices from "../../packaging/Notices.ts"
import { manifestOf } from "../../packaging/Published.ts"
import { bundled, installed, type Manifest, manifestIn, optional, root } from "./bundle.ts"

const to = join(import.meta.dirname, "dist")

const own = manifestIn(import.meta.dirname)

const bundle = () =>
  build({
    ...bundled,
    entryPoints: ["apps/server/src/wac.ts"],
    outdir: join(to, "dist"),
    // names stay, for stacks; V8 keeps the text of what it has loaded, so its blanks cost memory
    minifySyntax: true,
    minifyWhitespace: true,
    sourcemap: "linked",
    sourcesContent: false,
    legalComments: "none",
    metafile: true,
    logLevel: "warning"
  })

/**
 * Fails unless each module that the bundle loads lazily exports there what it exports in Node. One that lacks a name
 * fails only when a feature uses it.
 */
const checkLazy = ({ outputs }: Metafile): void => {
  const lazy = Object.values(outputs).flatMap(({ entryPoint, exports }) =>
    entryPoint === undefined ? [] : [{ entryPoint, exports }]
  )
  const program = `
    const lacking = []
    for (const { entryPoint, exports } of JSON.parse(process.argv[1])) {
      if (entryPoint === "apps/server/src/wac.ts") continue
      const all = Object.keys(await import(new URL(entryPoint, process.argv[2])))
      const missing = all.filter((name) => name !== "module.exports" && !exports.includes(name))
      if (missing.length > 0) lacking.push(entryPoint + " lacks " + missing.join(", "))
    }
    if (lacking.length > 0) throw new Error("the bundle of " + lacking.join("; the bundle of "))`
  const args = ["--conditions=source", "--input-type=module", "--eval", program]
  execFileSync(process.execPath, [...args, JSON.stringify(lazy), pathToFileURL(`${root}/`).href], { stdio: "inherit" })
}

const manifest = (): Manifest => {
  const { bin: _bin, dependencies: _, devDependencies: _dev, publishConfig: _publish, scripts: _scripts, ...kept } = own
  return {
    ...kept,
    bin: { wac: "./dist/wac.js" },
    files: ["dist", "THIRD-PARTY-NOTICES.txt", Materials.file],
    dependencies: Object.fromEntries(installed.map((name) => [name, own.dependencies![name]!])),
    ...(Object.keys(optional).length === 0 ? {} : {
      peerDependencies: optional,
      peerDependenciesMeta: Object.fromEntries(Object.keys(optional).map((name) => [name, { optional: true }]))
    })
  }
}

execFileSync(process.execPath, [join(root, "apps/dashboard/build.ts")], { stdio: "inherit" })
rmSync(to, { recursive: true, force: true })
mkdirSync(to)
const { metafile } = await bundle()
checkLazy(metafile)
chmodSync(join(to, "dist/wac.js"), 0o755)
cpSync(join(root, "packages/http/dist/dashboard"), join(to, "dist/dashboard"), {
  recursive: true,
  filter: (path) => basename(path) !== "sources"
})
for (const path of ["guides", "errors.md", "reference/access.md"]) {
  cpSync(join(root, "docs", path), join(to, "dist/docs", path), { recursive: true })
}
writeFileSync(join(to, "package.json"), `${JSON.stringify(manifest(), undefined, 2)}\n`)
const [, ...inPages] = readFileSync(join(root, "packages/http/dist/dashboard/sources"), "utf8").trimEnd().split("\n")
const inside = [...new Set([...Notices.foldersOf(metafile), ...inPages.map((path) => join(root, path))])].sort()
writeFileSync(join(to, "THIRD-PARTY-NOTICES.txt"), Notices.textOf(inside))
const besides = installed.map((name) => join(root, "node_modules", name))
Materials.write(to, Materials.of(manifestOf(import.meta.dirname), "application", [...inside, ...besides]))
cpSync(join(import.meta.dirname, "README.md"), join(to, "README.md"))
cpSync(join(import.meta.dirname, "LICENSE"), join(to, "LICENSE"))
