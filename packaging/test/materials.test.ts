import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it, onTestFinished } from "vitest"
import * as Materials from "../Materials.ts"
import { folders, manifestOf, packedFolder, root, server } from "../Published.ts"

const bills = Materials.all()

const namesIn = (name: string): ReadonlyArray<string> => bills.get(name)!.components.map(({ name }) => name)

/** The licences that the list of dependencies allows for what ships. */
const allowed = (() => {
  const [, list] = /^What ships has one of these licences: (.*?`)\. /m.exec(
    readFileSync(join(root, "docs/decisions/dependencies.md"), "utf8")
  )!
  return [...list!.matchAll(/`([^`]+)`/g)].map(([, licence]) => licence!)
})()

describe("the bills of materials", () => {
  it("every published package has one, with versions and package URLs, in which no package is twice", () => {
    assert.sameMembers([...bills.keys()], [...folders.keys(), server.name])
    for (const [name, { bomFormat, components, metadata }] of bills) {
      assert.strictEqual(bomFormat, "CycloneDX")
      assert.include(JSON.stringify(metadata), `"${name}"`)
      for (const { name, purl, version } of components) {
        assert.strictEqual(purl, `pkg:npm/${name.replace("@", "%40")}@${version}`)
      }
      const purls = components.map(({ purl }) => purl)
      assert.deepEqual(purls.filter((purl, i) => purls.indexOf(purl) !== i), [], name)
    }
  })

  it("a bill lists dependencies, what they need, peers that are required, and what is built in", () => {
    assert.deepEqual(namesIn("@wac/verifier"), [])
    assert.includeMembers([...namesIn("@wac/http")], ["@wac/core", "csv-parse", "effect", "libphonenumber-js"])
    assert.include(namesIn("@wac/whatsapp"), "undici")
    assert.notIncludeMembers([...namesIn("@wac/http")], ["vite", "react"])
    assert.includeMembers([...namesIn("wac")], ["effect", "undici", "react-dom", "libphonenumber-js"])
    assert.notInclude(namesIn("wac"), "@aws-sdk/client-s3")
  })

  it("the bill of a package that is built as a whole has the packages of its notices", () => {
    const notices = readFileSync(join(packedFolder(folders.get("wac")!), "THIRD-PARTY-NOTICES.txt"), "utf8")
    for (const { name, version } of bills.get("wac")!.components) assert.include(notices, `${name} ${version} (`)
  })

  it("what ships has only licences that the list of dependencies allows", () => {
    assert.isNotEmpty(allowed)
    const ours = new Set([...folders.keys(), server.name])
    // a package that needs Vitest runs in tests only
    const used = [...bills].filter(([name]) => !namesIn(name).includes("vitest"))
      .flatMap(([, { components }]) => components).filter(({ name }) => !ours.has(name))
    assert.isAbove(used.length, 100)
    const found = used.map(({ licenses = [], name }) => ({
      name,
      licence: licenses.map(({ expression }) => expression).join(", ")
    }))
    assert.deepEqual(found.filter(({ licence }) => !allowed.includes(licence)), [])
    const licences = new Set(found.map(({ licence }) => licence))
    assert.deepEqual(allowed.filter((licence) => !licences.has(licence)), [])
  })

  it("a release has a file for each package, and one list of licences", () => {
    const to = mkdtempSync(join(tmpdir(), "wac-materials-"))
    onTestFinished(() => rmSync(to, { recursive: true }))
    Materials.writeAll(to)
    assert.lengthOf(readdirSync(to), bills.size + 1)
    const licences = readFileSync(join(to, "licences.txt"), "utf8")
    assert.match(licences, /^effect \S+: MIT$/m)
    assert.notInclude(licences, "unknown")
    const { name, version } = manifestOf(server.folder)
    assert.include(
      readFileSync(join(to, "wac-server.cdx.json"), "utf8"),
      `"pkg:npm/${name.replace("@", "%40")}@${version}"`
    )
  })
})
