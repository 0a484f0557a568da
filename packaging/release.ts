/**
 * `npm run release`: sets versions, writes `CHANGELOG.md`, builds and publishes. `npm run release -- --dry-run` changes
 * and publishes nothing: it shows the notes of the release, builds and packs what would be published, and tries the
 * packed files as users would have them.
 *
 * A release begins with `npm audit` of what ships, and leaves the bills of materials in `packaging/dist/materials`.
 *
 * `--provenance` has npm record where and from what the packages were built; npm accepts that only from the runners of
 * a supported CI, and of packages that name their repository. `--image NAME` also releases the image, and records it in
 * `deploy/image.json`; `--key KEY` is the key that signs it. Repeating a release that failed part of the way is safe.
 */
import { DateTime } from "effect"
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import * as Changelog from "./Changelog.ts"
import * as Descriptions from "./Descriptions.ts"
import * as ImageRelease from "./ImageRelease.ts"
import * as Materials from "./Materials.ts"
import { build, pack, packInstalled, tarballOf } from "./Packed.ts"
import { folders, manifestOf, root, server } from "./Published.ts"
import * as ServerTrial from "./ServerTrial.ts"
import * as Version from "./Version.ts"

const say = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

const run = (program: string, ...args: ReadonlyArray<string>): void => {
  execFileSync(program, args, { cwd: root, stdio: "inherit" })
}

const { values: options } = parseArgs({
  options: {
    "dry-run": { type: "boolean", default: false },
    "provenance": { type: "boolean", default: false },
    "image": { type: "string" },
    "key": { type: "string" }
  }
})

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`

const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(1)} s`

/** What the changesets add up to. */
const planned = (folder: string): Changelog.Plan => {
  const file = join(folder, "plan.json")
  execFileSync("npx", ["changeset", "status", `--output=${file}`], {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"]
  })
  return JSON.parse(readFileSync(file, "utf8"))
}

const dryRun = async (): Promise<void> => {
  const packed = mkdtempSync(join(tmpdir(), "wac-release-"))
  try {
    const plan = planned(packed)
    const version = Changelog.versionOf(plan)
    say(version === undefined ? "there are no changesets" : `version ${version}\n\n${Changelog.notesOf(plan)}\n`)
    build()
    writeMaterials()
    pack(packed)
    say("would be published:")
    for (const name of [...folders.keys(), server.name]) {
      say(`  ${name} (${megabytes(statSync(tarballOf(packed, name)).size)} packed)`)
    }
    const installed = Object.keys(manifestOf(server.folder).dependencies!)
    packInstalled(packed, installed)
    const found = await ServerTrial.run([server.name, ...installed].map((name) => tarballOf(packed, name)))
    say(`\n${server.name}, in an empty directory, as user ${found.uid}:`)
    say(
      `  installed ${found.installedPackages} packages, ${megabytes(found.installedBytes)}, in ${
        seconds(found.installing)
      }`
    )
    say(`  \`npx wac start\` to a verified event: ${seconds(found.verified)}`)
    say(`  ready after ${seconds(found.firstReady)}, the second time after ${seconds(found.secondReady)}, npx included`)
    if (found.idleBytes !== undefined) say(`  memory of the idle process: ${megabytes(found.idleBytes)}`)
    say("\nnothing was published")
  } finally {
    rmSync(packed, { recursive: true, force: true })
  }
}

/** Fails before anything is changed. npm would do so only while it publishes. */
const checkProvenance = (): void => {
  const nameless = [...folders.values(), join(root, "apps/server")].map(manifestOf)
    .filter(({ repository }) => repository === undefined).map(({ name }) => name)
  if (nameless.length > 0) {
    throw new Error(
      `--provenance needs the field repository in ${
        nameless.join(", ")
      }: name it in the root's package.json, then run npm run describe`
    )
  }
}

const releaseImage = (image: string, temporary: string): void => {
  const released = ImageRelease.release(
    {
      image,
      version: manifestOf(server.folder).version,
      containerfile: readFileSync(join(root, "deploy/Containerfile"), "utf8"),
      materials: join(server.folder, Materials.file),
      temporary,
      key: options.key
    },
    (program, ...args) =>
      execFileSync(program, args, { cwd: root, encoding: "utf8", stdio: ["inherit", "pipe", "inherit"] })
  )
  writeFileSync(join(root, "deploy/image.json"), `${JSON.stringify(released, undefined, 2)}\n`)
  say(`released ${image}@${released.digest}`)
}

/** Leaves the bills of materials of what was built, for the release's page. */
const writeMaterials = (): void => {
  const to = join(root, "packaging/dist/materials")
  rmSync(to, { recursive: true, force: true })
  mkdirSync(to, { recursive: true })
  Materials.writeAll(to)
  say(`the bills of materials and the list of licences are in ${to}`)
}

const release = (): void => {
  if (options.provenance) checkProvenance()
  // fails if what ships has a known vulnerability
  run("npm", "audit", "--omit=dev", "--audit-level=moderate")
  const folder = mkdtempSync(join(tmpdir(), "wac-release-"))
  try {
    const plan = planned(folder)
    const version = Changelog.versionOf(plan)
    if (version !== undefined) {
      const page = join(root, "CHANGELOG.md")
      writeFileSync(
        page,
        Changelog.withVersion(readFileSync(page, "utf8"), plan, DateTime.formatIsoDateUtc(DateTime.nowUnsafe()))
      )
      run("npx", "changeset", "version")
      writeFileSync(Version.file, Version.withVersion(readFileSync(Version.file, "utf8"), version))
      run("npm", "install", "--package-lock-only")
    }
    Descriptions.write()
    build()
    writeMaterials()
    if (options.provenance) process.env["NPM_CONFIG_PROVENANCE"] = "true"
    run("npx", "changeset", "publish")
    if (options.image !== undefined) releaseImage(options.image, folder)
    if (version !== undefined) say(`\nthe notes of ${version}, for its tag:\n\n${Changelog.notesOf(plan)}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

if (options["dry-run"]) await dryRun()
else release()
