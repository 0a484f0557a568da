/**
 * Builds the package that is the server, `dist`: the program in a few files with what it uses of its libraries, the
 * dashboard, and a manifest with what must be installed besides. Why it is bundled: `docs/decisions/0028-wac.md`.
 */
import { build, type Metafile } from "esbuild"
import { execFileSync } from "node:child_process"
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"

const root = join(import.meta.dirname, "../..")
const to = join(import.meta.dirname, "dist")

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
  readonly [field: string]: unknown
}

const manifestIn = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))

const own = manifestIn(import.meta.dirname)
const libraries = readdirSync(join(root, "packages")).map((name) => manifestIn(join(root, "packages", name)))

/** Has files of its own beside its code, so it is installed. */
const installed = ["@electric-sql/pglite"]

/** What the operator may install for a feature. */
const optional: Readonly<Record<string, string>> = Object.fromEntries(
  libraries.flatMap(({ peerDependencies = {}, peerDependenciesMeta = {} }) =>
    Object.entries(peerDependencies).filter(([name]) => peerDependenciesMeta[name]?.optional === true)
  )
)

const bundle = () =>
  build({
    absWorkingDir: root,
    entryPoints: ["apps/server/src/wac.ts"],
    outdir: join(to, "dist"),
    bundle: true,
    // what a run does not use is not loaded
    splitting: true,
    platform: "node",
    format: "esm",
    target: "node22",
    conditions: ["source"],
    external: [...installed, ...Object.keys(optional)],
    // names stay, for stacks; V8 keeps the text of what it has loaded, so its blanks cost memory
    minifySyntax: true,
    minifyWhitespace: true,
    sourcemap: "linked",
    sourcesContent: false,
    legalComments: "none",
    metafile: true,
    logLevel: "warning",
    // the check of Node's version in `wac/effect`, which `wac.ts` makes before anything else
    logOverride: { "ignored-bare-import": "silent" },
    // for what is written in CommonJS
    banner: {
      js: "const require = process.getBuiltinModule(\"module\").createRequire(import.meta.url);"
    }
  })

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

const rangeOf = (name: string): string =>
  libraries.map(({ dependencies }) => dependencies?.[name]).find((range) => range !== undefined)!

const manifest = (): Manifest => {
  const { bin: _bin, dependencies: _, devDependencies: _dev, publishConfig: _publish, scripts: _scripts, ...kept } = own
  return {
    ...kept,
    bin: { wac: "./dist/wac.js" },
    files: ["dist", "THIRD-PARTY-NOTICES.txt"],
    dependencies: Object.fromEntries(installed.map((name) => [name, rangeOf(name)])),
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
chmodSync(join(to, "dist/wac.js"), 0o755)
cpSync(join(root, "packages/http/dist/dashboard"), join(to, "dist/dashboard"), {
  recursive: true,
  filter: (path) => basename(path) !== "sources"
})
writeFileSync(join(to, "package.json"), `${JSON.stringify(manifest(), undefined, 2)}\n`)
writeFileSync(join(to, "THIRD-PARTY-NOTICES.txt"), noticesOf(foldersOf(metafile)))
cpSync(join(import.meta.dirname, "README.md"), join(to, "README.md"))
cpSync(join(import.meta.dirname, "LICENSE"), join(to, "LICENSE"))
