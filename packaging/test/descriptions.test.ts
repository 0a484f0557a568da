/**
 * What is read of a package before it is installed: its manifest and its README.
 */
import { readFileSync } from "node:fs"
import { basename, join } from "node:path"
import { assert, describe, it } from "vitest"
import * as Descriptions from "../Descriptions.ts"
import { manifestOf, root } from "../Published.ts"

const project = manifestOf(root)

describe.each(Descriptions.described.map((folder) => [basename(folder), folder] as const))("%s", (_, folder) => {
  it("a manifest says of the project what the root's says; `npm run describe` writes it", () => {
    const manifest = manifestOf(folder)
    assert.deepStrictEqual(manifest, Descriptions.withFields(manifest, Descriptions.fieldsOf(project, folder)))
    assert.isNotEmpty(manifest["keywords"])
  })

  it("no link in a README leads out of the package, where a registry has nothing", () => {
    const links = [...readFileSync(join(folder, "README.md"), "utf8").matchAll(/\]\(([^)\s]+)/g)].map(([, to]) => to!)
    assert.deepStrictEqual(links.filter((to) => !/^(https:|#|src\/)/.test(to)), [])
  })
})

it("a repository is named with the package's folder in it", () => {
  const repository = { type: "git", url: "git+https://git.example/wac.git" }
  const homepage = "https://git.example/wac"
  const folder = join(root, "packages/client")
  const fields = Descriptions.fieldsOf({ repository, homepage, bugs: { url: `${homepage}/issues` } }, folder)
  assert.deepStrictEqual(fields, {
    homepage,
    bugs: { url: "https://git.example/wac/issues" },
    repository: { ...repository, directory: "packages/client" }
  })
  assert.deepInclude(Descriptions.withFields(manifestOf(folder), fields), fields)
})
