/**
 * Builds the package that is the server, `dist`: the program in a few files with what it uses of its libraries, the
 * dashboard, and a manifest with what must be installed besides. Why it is bundled: `docs/decisions/0028-wac.md`.
 */
import { build, type Metafile } from "esbuild"
import { execFileSync } from "node:child_process"
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { pathToFileURL } from "node:url"
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

/** The folders of the bundled packages of others. */
const foldersOf = ({ inputs }: Metafile): ReadonlyArray<string> =>
  [
    ...new Set(
      Object.keys(inputs).flatMap((path) => {
        const [found] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []
        return found === undefined ? [] : [join(root, found)]
      })
    )
  ].sort()

/** The licences of what is bundled, as they require. */
const noticesOf = (folders: ReadonlyArray<string>): string =>
  folders.map((folder) => {
    const { license = "unknown", name, version } = manifestIn(folder)
    const texts = readdirSync(folder).filter((file) => /^(licen[cs]e|notice)/i.test(file)).sort()
    return [`${name} ${version} (${license})`, ...texts.map((file) => readFileSync(join(folder, file), "utf8").trim())]
      .join("\n\n")
  }).join(`\n\n${"-".repeat(72)}\n\n`) + "\n"

/**
 * The bill of materials: each package of others that is bundled, in the pages, or installed besides (CycloneDX 1.6).
 */
const materialsOf = (folders: ReadonlyArray<string>): object => ({
  bomFormat: "CycloneDX",
  specVersion: "1.6",
  version: 1,
  metadata: { component: componentOf(own, "application") },
  components: folders.map((folder) => componentOf(manifestIn(folder), "library"))
})

const componentOf = ({ license, name, version }: Manifest, type: string): object => {
  const purl = `pkg:npm/${name.replace(/^@/, "%40")}@${version}`
  return {
    type,
    "bom-ref": purl,
    name,
    version,
    purl,
    ...(license === undefined ? {} : { licenses: [{ expression: license }] })
  }
}

const manifest = (): Manifest => {
  const { bin: _bin, dependencies: _, devDependencies: _dev, publishConfig: _publish, scripts: _scripts, ...kept } = own
  return {
    ...kept,
    bin: { wac: "./dist/wac.js" },
    files: ["dist", "THIRD-PARTY-NOTICES.txt", "sbom.cdx.json"],
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
const folders = foldersOf(metafile)
writeFileSync(join(to, "THIRD-PARTY-NOTICES.txt"), noticesOf(folders))
const [, ...pages] = readFileSync(join(root, "packages/http/dist/dashboard/sources"), "utf8").split("\n")
const materials = [
  ...folders,
  ...[...pages, ...installed.map((name) => `node_modules/${name}`)].map((path) => join(root, path))
]
writeFileSync(
  join(to, "sbom.cdx.json"),
  `${JSON.stringify(materialsOf([...new Set(materials)].sort()), undefined, 2)}\n`
)
cpSync(join(import.meta.dirname, "README.md"), join(to, "README.md"))
cpSync(join(import.meta.dirname, "LICENSE"), join(to, "LICENSE"))
