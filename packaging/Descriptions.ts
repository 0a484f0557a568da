/**
 * What the manifests of the published packages say of the project, all of it from the root's `package.json`: `keywords`,
 * and, once the root names them, `repository`, `homepage` and `bugs`. npm records where a package was built
 * (`--provenance`) only if it names its repository.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join, relative } from "node:path"
import { folders, type Manifest, manifestOf, root } from "./Published.ts"

const named = ["repository", "homepage", "bugs"] as const

/** The manifests in the repository of all packages that are published. */
export const described: ReadonlyArray<string> = [...folders.values(), join(root, "apps/server")]

/** The fields of a package in this folder; those that the root does not name are absent. */
export const fieldsOf = (
  { bugs, homepage, keywords, repository }: Readonly<Record<string, unknown>>,
  folder: string
): Readonly<Record<string, unknown>> => ({
  ...(keywords === undefined ? {} : { keywords }),
  ...(homepage === undefined ? {} : { homepage }),
  ...(bugs === undefined ? {} : { bugs }),
  ...(repository === undefined
    ? {}
    : { repository: { ...repository as object, directory: relative(root, folder) } })
})

/** A manifest with these fields in place of its own, before its licence. */
export const withFields = (manifest: Manifest, fields: Readonly<Record<string, unknown>>): Manifest =>
  Object.fromEntries(
    Object.entries(manifest)
      .filter(([name]) => name !== "keywords" && !named.some((other) => other === name))
      .flatMap((entry) => entry[0] === "license" ? [...Object.entries(fields), entry] : [entry])
  ) as Manifest

/** Writes the fields into every manifest. */
export const write = (): void => {
  const project = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
  for (const folder of described) {
    const manifest = withFields(manifestOf(folder), fieldsOf(project, folder))
    writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`)
  }
}
