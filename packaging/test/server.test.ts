/**
 * The package that is the server, as an operator gets it.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { publint } from "publint"
import { assert, describe, inject, it, onTestFinished } from "vitest"
import { packInstalled, tarballOf } from "../Packed.ts"
import { manifestOf, server } from "../Published.ts"
import * as ServerTrial from "../ServerTrial.ts"

const installed = Object.keys(manifestOf(server.folder).dependencies!)

describe("the server's package", () => {
  it("a user without root gets from an empty directory to a verified event within a minute", async () => {
    const packed = mkdtempSync(join(tmpdir(), "wac-server-"))
    onTestFinished(() => rmSync(packed, { recursive: true }))
    packInstalled(packed, installed)
    const files = [tarballOf(inject("packed"), server.name), ...installed.map((name) => tarballOf(packed, name))]
    const found = await ServerTrial.run(files)
    assert.isAbove(found.uid, 0)
    assert.isBelow(found.verified, 60_000)
    assert.isAtMost(found.installedBytes, 150e6)
    assert.isAtMost(found.installedPackages, 120)
  })

  it("the package contains the licence of each bundled package", () => {
    const notices = readFileSync(join(server.folder, "THIRD-PARTY-NOTICES.txt"), "utf8")
    for (const name of ["effect", "undici", "nodemailer", "openid-client", "react-dom"]) {
      assert.match(notices, new RegExp(`^${name} `, "m"))
    }
    assert.notInclude(notices, "(unknown)")
  })

  it("the bill of materials lists the bundled packages, those of the pages and the installed ones", () => {
    const { bomFormat, components, metadata } = JSON.parse(readFileSync(join(server.folder, "sbom.cdx.json"), "utf8"))
    const { name, version } = manifestOf(server.folder)
    assert.deepInclude(metadata.component, { name, version })
    assert.strictEqual(bomFormat, "CycloneDX")
    const found = components.map(({ name }: { readonly name: string }) => name)
    assert.includeMembers(found, ["effect", "undici", "nodemailer", "react-dom", "@base-ui/react", ...installed])
    assert.notIncludeMembers(found, ["vite", "esbuild"])
    const purls = components.map(({ purl }: { readonly purl: string }) => purl)
    assert.deepEqual(purls.filter((purl: string, i: number) => purls.indexOf(purl) !== i), [])
    for (const { licenses, name, purl, version } of components) {
      assert.strictEqual(purl, `pkg:npm/${name.replace("@", "%40")}@${version}`)
      assert.isDefined(licenses, name)
    }
  })

  it("the package is published from its built folder, in which publint finds no fault", async () => {
    const { messages } = await publint({ pkgDir: server.folder, strict: true })
    assert.deepEqual(messages.map(({ code }) => code), [])
    const { bin, dependencies } = manifestOf(server.folder)
    assert.deepEqual(bin, { wac: "./dist/wac.js" })
    assert.deepEqual(installed, ["@electric-sql/pglite"])
    assert.match(dependencies!["@electric-sql/pglite"]!, /^\^/)
  })
})
