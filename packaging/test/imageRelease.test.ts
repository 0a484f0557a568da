import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it, onTestFinished } from "vitest"
import * as ImageRelease from "../ImageRelease.ts"
import { root } from "../Published.ts"

const containerfile = readFileSync(join(root, "deploy/Containerfile"), "utf8")
const digestOf = (digit: string): string => `sha256:${digit.repeat(64)}`

/** Releases with programs that do nothing but answer as the real ones do. Returns the commands. */
const released = (options: { readonly base?: string; readonly key?: string } = {}) => {
  const temporary = mkdtempSync(join(tmpdir(), "wac-image-"))
  onTestFinished(() => rmSync(temporary, { recursive: true }))
  const commands: Array<string> = []
  const release = () =>
    ImageRelease.release({
      image: "registry.example.com/wac",
      version: "1.2.3",
      containerfile,
      materials: "sbom.cdx.json",
      temporary,
      key: options.key
    }, (program, ...args) => {
      commands.push([program, ...args].join(" "))
      const metadata = args.find((arg) => arg.startsWith("--metadata-file="))?.split("=")[1]
      if (metadata !== undefined) writeFileSync(metadata, JSON.stringify({ "containerimage.digest": digestOf("c") }))
      return args.includes("inspect")
        ? options.base ?? `${digestOf(args.at(-1)!.includes("alpine") ? "a" : "b")}\n`
        : ""
    })
  return { release, commands }
}

describe("the release of the image", () => {
  it("a release builds every platform on base images with resolved digests, which it returns", () => {
    const { commands, release } = released()
    const { bases, digest, platforms } = release()
    assert.deepEqual(bases, {
      BUILD_IMAGE: `node:24-bookworm-slim@${digestOf("b")}`,
      RUN_IMAGE: `node:24-alpine@${digestOf("a")}`
    })
    const build = commands.find((command) => command.includes(" build "))!
    for (const [name, base] of Object.entries(bases)) assert.include(build, ` --build-arg=${name}=${base} `)
    assert.include(build, ` --platform=${platforms.join(",")} `)
    assert.include(build, " --provenance=mode=max --sbom=true ")
    assert.strictEqual(digest, digestOf("c"))
  })

  it("a release signs and attests the digest that was pushed, never a tag", () => {
    const { commands, release } = released({ key: "kms://key" })
    release()
    const named = `registry.example.com/wac@${digestOf("c")}`
    assert.deepEqual(commands.filter((command) => command.startsWith("cosign ")), [
      `cosign sign --yes --key=kms://key ${named}`,
      `cosign attest --yes --key=kms://key --type=cyclonedx --predicate=sbom.cdx.json ${named}`
    ])
  })

  it("without a key, signs with the identity of the machine", () => {
    const { commands, release } = released()
    release()
    assert.isFalse(commands.some((command) => command.includes("--key")))
  })

  it("a release builds nothing if a base image's digest is not known", () => {
    const { commands, release } = released({ base: "" })
    assert.throws(release, "node:24-bookworm-slim has no digest")
    assert.isFalse(commands.some((command) => command.includes(" build ")))
  })
})
