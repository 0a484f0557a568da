/**
 * Bills of materials of what is published (CycloneDX 1.6): for each package, the packages of others that are in it and
 * those that npm installs with it. `npm sbom` does not know what a bundle has in it, and leaves peers out.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { folders, isBundled, type Manifest, manifestOf, packedFolder, server, vendoredIn } from "./Published.ts"

/** The file of a bill, in a package that is built as a whole. */
export const file = "sbom.cdx.json"

/** A package in a bill. */
export interface Component {
  readonly name: string
  readonly version: string
  readonly licenses?: ReadonlyArray<{ readonly expression: string }>
  readonly [field: string]: unknown
}

/** A bill of materials. */
export interface Bill {
  readonly components: ReadonlyArray<Component>
  readonly [field: string]: unknown
}

const componentOf = ({ license, name, version }: Manifest, type: string): Component => {
  const purl = `pkg:npm/${name.replace(/^@/, "%40")}@${version}`
  return {
    type,
    "bom-ref": purl,
    name,
    version,
    purl,
    ...(typeof license === "string" ? { licenses: [{ expression: license }] } : {})
  }
}

/** The bill of a package with the packages in these folders. */
export const of = (
  manifest: Manifest,
  type: "application" | "library",
  materials: ReadonlyArray<string>
): Bill => ({
  bomFormat: "CycloneDX",
  specVersion: "1.6",
  version: 1,
  metadata: { component: componentOf(manifest, type) },
  components: [...new Set(materials)].sort().map((folder) => componentOf(manifestOf(folder), "library"))
})

/** The text of a bill. */
const textOf = (bill: Bill): string => `${JSON.stringify(bill, undefined, 2)}\n`

/** Writes the bill of a package into the folder in which it is built. */
export const write = (folder: string, bill: Bill): void => writeFileSync(join(folder, file), textOf(bill))

/** Where a package is that one in this folder asks for. */
const installedAt = (folder: string, name: string): string => {
  const found = join(folder, "node_modules", name)
  if (existsSync(found)) return found
  const above = dirname(folder)
  if (above === folder) throw new Error(`${name} is not installed`)
  return installedAt(above, name)
}

/** The folders of all that npm installs with a package, or that is in its `dist`, and of what these need. */
const neededBy = (folder: string, known = new Set<string>()): ReadonlySet<string> => {
  const manifest = manifestOf(folder)
  const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = manifest
  const peers = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true)
  const vendored = vendoredIn(manifest).map(({ library }) => library)
  for (const name of [...Object.keys(dependencies), ...peers, ...vendored]) {
    const needed = folders.get(name) ?? installedAt(folder, name)
    if (known.has(needed)) continue
    known.add(needed)
    neededBy(needed, known)
  }
  return known
}

const read = (folder: string): Bill => JSON.parse(readFileSync(join(folder, file), "utf8"))

/** The bill of each package that is published, by its name. They must be built. */
export const all = (): ReadonlyMap<string, Bill> =>
  new Map([
    ...[...folders].map(([name, folder]) => {
      const manifest = manifestOf(folder)
      return [
        name,
        isBundled(manifest) ? read(packedFolder(folder)) : of(manifest, "library", [...neededBy(folder)])
      ] as const
    }),
    [server.name, read(server.folder)] as const
  ])

/** Writes the bill of each package into a folder, and a list of all packages in them with their licences. */
export const writeAll = (to: string): void => {
  const bills = all()
  for (const [name, bill] of bills) {
    writeFileSync(join(to, `${name.replace("@", "").replace("/", "-")}.cdx.json`), textOf(bill))
  }
  const lines = [...bills.values()].flatMap(({ components }) => components)
    .map(({ licenses = [], name, version }) =>
      `${name} ${version}: ${licenses.map(({ expression }) => expression).join(", ") || "unknown"}`
    )
  writeFileSync(join(to, "licences.txt"), `${[...new Set(lines)].sort().join("\n")}\n`)
}
