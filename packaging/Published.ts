/**
 * The packages that are published: all of `packages` but those that are private, and the server.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

/** The repository. */
export const root = fileURLToPath(new URL("../", import.meta.url))

export interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly exports: Readonly<Record<string, unknown>>
  readonly imports?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly engines?: { readonly node?: string }
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
  readonly publishConfig?: { readonly directory?: string }
  readonly [field: string]: unknown
}

export const manifestOf = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))

/** Libraries of others that a package has in its `dist`: those that its `imports` name for the condition `source`. */
export const vendoredIn = (
  { imports = {} }: Manifest
): ReadonlyArray<{ readonly library: string; readonly file: string }> =>
  Object.values(imports).flatMap(({ default: file, source }) =>
    typeof source === "string" && typeof file === "string" && !source.startsWith(".")
      ? [{ library: source, file }]
      : []
  )

/** Whether `require` can load the package where it loads no modules, as in Jest. */
export const isRequirable = ({ exports }: Manifest): boolean =>
  Object.values(exports).some((entry) => typeof entry === "object" && entry !== null && "require" in entry)

/** The package that is the server: built as a whole, it has nothing to import. */
export const server = { name: "@wac/server", folder: join(root, "apps/server/dist") }

/** Whether a package is published as it is built, with what it needs of ours and of others in it. */
export const isBundled = ({ publishConfig }: Manifest): boolean => publishConfig?.directory !== undefined

/** What npm packs of a package in this folder. */
export const packedFolder = (folder: string): string => join(folder, manifestOf(folder).publishConfig?.directory ?? "")

/** Every package that is published to be imported, and its folder. */
export const folders: ReadonlyMap<string, string> = new Map(
  readdirSync(join(root, "packages"))
    .map((name) => join(root, "packages", name))
    .map((folder) => [manifestOf(folder), folder] as const)
    .filter(([manifest]) => manifest.private !== true)
    .map(([{ name }, folder]) => [name, folder])
)
