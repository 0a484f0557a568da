/**
 * How the server's programs are bundled: for the package (`build.ts`), and for the processes of tests, which start in
 * half of the time and run what is published.
 */
import type { BuildOptions, Plugin } from "esbuild"
import { readdirSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { pathToFileURL } from "node:url"

/** The repository. */
export const root = join(import.meta.dirname, "../..")

/** What `package.json` says. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly license?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
  readonly [field: string]: unknown
}

/** The manifest in a folder. */
export const manifestIn = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))

/** The manifests of our packages. */
const libraries = readdirSync(join(root, "packages")).map((name) => manifestIn(join(root, "packages", name)))

/** Has files of its own beside its code, so it is installed. */
export const installed = ["@electric-sql/pglite"]

/** What the operator may install for a feature. */
export const optional: Readonly<Record<string, string>> = Object.fromEntries(
  libraries.flatMap(({ peerDependencies = {}, peerDependenciesMeta = {} }) =>
    Object.entries(peerDependencies).filter(([name]) =>
      peerDependenciesMeta[name]?.optional === true && !installed.includes(name)
    )
  )
)

/** Names what a module passes on from CommonJS by `export *`, which esbuild would lose where it splits. */
const named: Plugin = {
  name: "named",
  setup: ({ onLoad }) => {
    onLoad({ filter: /@effect[\\/]platform-node[\\/].*\.js$/ }, async ({ path }) => {
      const { resolve } = createRequire(path)
      const contents = readFileSync(path, "utf8")
      const stars = [...contents.matchAll(/^export \* from ("[^."][^"]*");?$/gm)]
      if (stars.length === 0) return undefined
      const lines = await Promise.all(stars.map(async ([line, quoted]) => {
        const names = Object.keys(await import(pathToFileURL(resolve(JSON.parse(quoted!))).href))
          .filter((name) => name !== "default" && name !== "module.exports")
        return [line, `export { ${names.join(", ")} } from ${quoted}`] as const
      }))
      return { contents: lines.reduce((text, [line, replacement]) => text.replace(line, () => replacement), contents) }
    })
  }
}

/**
 * Bundles programs with what they use of their libraries. What a run does not use is in files that it does not load,
 * and what must be installed stays outside.
 */
export const bundled: BuildOptions = {
  absWorkingDir: root,
  bundle: true,
  splitting: true,
  platform: "node",
  format: "esm",
  target: "node22",
  conditions: ["source"],
  external: [...installed, ...Object.keys(optional)],
  plugins: [named],
  // for what is written in CommonJS
  banner: {
    js: "const require = process.getBuiltinModule(\"module\").createRequire(import.meta.url);"
  },
  // the check of Node's version in `@wac/effect`, which `wac.ts` makes before anything else
  logOverride: { "ignored-bare-import": "silent" }
}
