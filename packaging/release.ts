/**
 * `npm run release`: sets versions, writes `CHANGELOG.md`, builds and publishes. `npm run release -- --dry-run` changes
 * and publishes nothing: it shows the notes of the release, builds and packs what would be published, and tries the
 * packed files as users would have them.
 */
import { DateTime } from "effect"
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Changelog from "./Changelog.ts"
import { build, pack, packInstalled, tarballOf } from "./Packed.ts"
import { folders, manifestOf, root, server } from "./Published.ts"
import * as ServerTrial from "./ServerTrial.ts"

const say = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

const run = (program: string, ...args: ReadonlyArray<string>): void => {
  execFileSync(program, args, { cwd: root, stdio: "inherit" })
}

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

const release = (): void => {
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
      run("npm", "install", "--package-lock-only")
    }
    build()
    run("npx", "changeset", "publish")
    if (version !== undefined) say(`\nthe notes of ${version}, for its tag:\n\n${Changelog.notesOf(plan)}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

if (process.argv.includes("--dry-run")) await dryRun()
else release()
